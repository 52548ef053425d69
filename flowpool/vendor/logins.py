"""Logins of Claude Code's as what can be kept: read, and found whole."""

from dataclasses import dataclass

from credentials.credential import OAUTH, Credential, parse
from credentials.errors import BadSecret
from flowpool.errors import Failure
from flowpool.intake import placing
from home import clientlogin
from routing.words import Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A login that can be kept, and whose it is."""

    credential: Credential
    identity: Identity


def understood(login: clientlogin.ClientLogin, where: str, again: str) -> Whole:
    """Read a login; raise Failure, which quotes nothing of it. again: what to run instead."""
    from providers.anthropic import owners  # noqa: PLC0415  # the providers' code costs 100 ms

    if not login.text.reveal().strip().startswith("{"):
        raise Failure(f"{where}: this is not Claude Code's login file; run: {again}")
    try:
        credential = parse(OAUTH, login.text.reveal())
    except BadSecret as error:
        why = str(error).partition("; run: ")[0].removeprefix("this is not Claude Code's login file: ")
        raise Failure(f"{where}: {why}; run: {again}") from None
    if credential.refresh is None:
        raise Failure(f"{where}: it has no refreshToken, so it ends within hours; run: {again}")
    return Whole(credential=credential, identity=placing.fit(owners.of_client(login.owner, credential.extras)))
