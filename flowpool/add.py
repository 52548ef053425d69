"""`flowpool add`: an account and its secret come, at once and together."""

import re
from datetime import UTC, datetime
from typing import override

import click

from credentials import ends
from credentials.credential import KINDS, OAUTH, SETUP_TOKEN, Credential, parse
from flowpool import names
from flowpool.arguments import FORCE, NO_VERIFY, pass_home
from flowpool.errors import Failure
from flowpool.intake import asking, placing, taking
from home import accounts as book
from home import settings
from home.paths import Home
from home.schema import PROVIDERS
from routing.words import Account, Identity

ELSEWHERE = (
    "a secret comes from stdin or a hidden prompt, never as an argument, where the shell's history would keep it; "
    "run: flowpool add NAME --kind setup-token"
)
HELP = """Add an account to the pool; NAME is yours to choose.

The secret is asked for without showing it, or read from a pipe. It is never an argument: the shell's history would keep it.

\b
  flowpool add work --kind setup-token
  flowpool add work --kind oauth < ~/.claude/.credentials.json

`flowpool login NAME` gets an account a login of its own; `flowpool import` takes Claude Code's.

\b
What --kind says of the secret:
  setup-token  it is what `claude setup-token` prints
  oauth        it is Claude Code's login file, or the access token in it
  api-key      it is a key that is paid per token; such an account comes
               last, unless you rank it

The provider is asked whether it accepts the secret; what it refuses is not
added. A running proxy uses the account at once.
"""

_SECRETIVE = re.compile(r"token|secret|key|pass|cred|auth", re.IGNORECASE)  # of options that people try


class _Add(click.Command):
    """Tells who types a secret as an argument where it belongs, and quotes nothing."""

    @override
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            left = super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if _SECRETIVE.search(error.option_name):
                raise click.UsageError(ELSEWHERE, ctx) from None
            raise
        if left and not ctx.resilient_parsing:
            raise click.UsageError(ELSEWHERE, ctx)
        return left


@click.command(cls=_Add, context_settings={"allow_extra_args": True}, help=HELP, short_help="Add an account.")
@click.argument("name")
@click.option("--kind", type=click.Choice(KINDS), help="What the secret is; needed for a new account.")
@click.option("--provider", type=click.Choice(PROVIDERS), default=PROVIDERS[0], show_default=True, help="Whose it is.")
@NO_VERIFY
@click.option(
    "--replace",
    "again",
    is_flag=True,
    help="Give the account NAME, which must be there, a new secret; its rank, its history and all else stay.",
)
@FORCE
@pass_home
def add(
    home: Home, /, name: str, kind: str | None, *, provider: str, no_verify: bool, again: bool, force: bool
) -> None:
    """Add an account, or give one a new secret."""
    if not book.is_name(name) or name.startswith("sk-"):  # not quoted: it may be a secret in the wrong place
        raise click.UsageError(f"NAME must be {book.NAME_RULE}; a secret comes from stdin, never as an argument")
    chosen = settings.load(home.config)
    known = book.load(home.accounts)
    kind = _kind(_found(known, name, kind, again=again), name, kind, provider)
    command = f"flowpool add {name} --replace" if again else f"flowpool add {name}"
    now = datetime.now(UTC)
    credential = ends.of_token(parse(kind, asking.secret(kind, name, f"{command} --kind {kind}"), command), now)
    offer = taking.Offer(
        credential=credential,
        name=name,
        command="flowpool login",
        again=f"flowpool login {name}" if kind == OAUTH else f"{command} --kind {kind}",
        provider=provider,
        identity=_identity(credential),
    )
    taken = taking.take(home, chosen, known, offer, now, no_verify=no_verify, by_force=force)
    owner = f": {placing.told(taken.account.identity)}" if taken.account.identity.owner else ""
    what = "added" if taken.is_new else "replaced the secret of"
    click.echo(f"{what} {name} ({kind}, {provider}){owner}{taken.standing}")


def _identity(credential: Credential) -> Identity:
    """Return what the secret itself says of whose it is."""
    if not credential.extras:
        return Identity()
    from providers.anthropic import owners  # noqa: PLC0415  # the providers' code costs 100 ms

    return placing.fit(owners.of_client({}, credential.extras))


def _found(known: book.Accounts, name: str, kind: str | None, *, again: bool) -> Account | None:
    """Return the account with this name if it is to be replaced, None if it is to be a new one."""
    found = next((account for account in known if account.name == name), None)
    if found and not again:
        raise Failure(
            f"there is an account {name} already; to give it a new secret, run: flowpool add {name} --replace"
        )
    if not found and again:
        try:
            names.find(known, [name])
        except Failure as failure:
            problem = str(failure) if known else f"there is no account {name}"
            how = " To" if problem.endswith("?") else "; to"
            raise Failure(f"{problem}{how} add it, run: flowpool add {name} --kind {kind or SETUP_TOKEN}") from None
    return found


def _kind(found: Account | None, name: str, kind: str | None, provider: str) -> str:
    """Return what the secret is to be: what was typed, else what the account has."""
    if found and found.provider != provider:
        raise Failure(
            f"{name} is an account of {found.provider}, not of {provider}; "
            f"run: flowpool add {name} --replace --provider {found.provider}"
        )
    if kind is None and found is None:
        raise click.UsageError(f"--kind is needed: {', '.join(KINDS)}; run: flowpool add {name} --kind {SETUP_TOKEN}")
    return kind or str(found and found.kind)
