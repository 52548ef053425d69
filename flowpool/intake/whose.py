"""Asks the provider whose a login is."""

from credentials import web
from credentials.credential import OAUTH, Credential
from credentials.way import DIRECT, Way
from flowpool.intake import placing
from home.version import version
from routing.words import Identity, Kind

PATIENCE = 5.0  # seconds; what does not answer is as good as what does not know


def ask(upstream: str, credential: Credential, way: Way = DIRECT) -> Identity:
    """Return what the provider says; nothing where the token's scope does not allow it, or no answer comes."""
    from providers.anthropic import checks, owners  # noqa: PLC0415  # the providers' code costs 100 ms

    if not _may_ask(credential, owners.SCOPE):
        return Identity()
    secret = credential.access.reveal()
    question = checks.question(upstream + owners.PATH, Kind.OAUTH, secret, f"flowpool/{version()}")
    try:
        answer = web.ask(question, PATIENCE, way)
    except web.UnreachableError:
        return Identity()
    return placing.fit(owners.read(answer.status, answer.body))


def _may_ask(credential: Credential, scope: str) -> bool:
    """Tell whether the answer may be more than a refusal: setup tokens have no such scope, and keys are nobody's."""
    return credential.kind == OAUTH and scope in credential.extras.get("scopes", scope)
