"""`flowpool add`: an account and its secret come, at once and together."""

import re
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import override

import click

from credentials.backends import open_store
from credentials.credential import KINDS, SETUP_TOKEN, USUAL, Credential, is_usual, parse, shares_secret
from credentials.errors import BadSecret, CredentialError
from credentials.store import Store
from flowpool import names, proxy, verify
from flowpool.arguments import pass_home
from flowpool.errors import Failure
from flowpool.proxy import Told
from home import accounts as book
from home import settings
from home.errors import HomeError
from home.paths import Home
from home.schema import PROVIDERS
from routing.words import Account, Kind

LARGEST = 2**20  # bytes of a secret on stdin
ELSEWHERE = (
    "a secret comes from stdin or a hidden prompt, never as an argument, where the shell's history would keep it; "
    "run: flowpool add NAME --kind setup-token"
)
HELP = """Add an account to the pool; NAME is yours to choose.

The secret is asked for without showing it, or read from a pipe. It is never an argument: the shell's history would keep it.

\b
  flowpool add work --kind setup-token
  flowpool add work --kind oauth < ~/.claude/.credentials.json

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
@click.option(
    "--no-verify",
    is_flag=True,
    help="Do not ask the provider first whether it accepts the secret.",
)
@click.option(
    "--replace",
    "again",
    is_flag=True,
    help="Give the account NAME, which must be there, a new secret; its rank, its history and all else stay.",
)
@pass_home
def add(home: Home, /, name: str, kind: str | None, *, provider: str, no_verify: bool, again: bool) -> None:
    """Add an account, or give one a new secret."""
    if not book.is_name(name) or name.startswith("sk-"):  # not quoted: it may be a secret in the wrong place
        raise click.UsageError(f"NAME must be {book.NAME_RULE}; a secret comes from stdin, never as an argument")
    chosen = settings.load(home.config)
    backend = chosen.credentials.backend
    known = book.load(home.accounts)
    found = _found(known, name, kind, again=again)
    account = _account(found, name, kind, provider)
    store = open_store(backend, home.state_folder, lambda: [one.id for one in book.load(home.accounts)])
    is_first = not {one.id for one in known}.intersection(store.ids())  # or secrets are kept elsewhere by now
    command = _command(name, again=again)
    credential = parse(account.kind, _read_secret(account, again=again), command)
    upstream = chosen.providers.anthropic.upstream
    checked = verify.UNASKED if no_verify else verify.check(upstream, account, credential, command)
    _save(home.accounts, store, found, account, credential)
    told = proxy.tell(home)
    if found and told is Told.NOBODY:
        _lift(home, account)
    has_it = "; the running proxy has it" if told is Told.TAKEN and account.enabled else ""
    what = f"{'replaced the secret of' if found else 'added'} {name} ({account.kind}, {account.provider})"
    click.echo(f"{what}{has_it}; {checked}")
    if not is_usual(credential):
        odd = f"a {account.kind} begins with {USUAL} so far, and this secret does not; it was taken, as that may change"
        click.echo(f"flowpool: {odd}; if it is the wrong one, run: flowpool add {name} --replace", err=True)
    if backend == "auto" and is_first:
        click.echo(f"flowpool: secrets are kept {store.describe()}", err=True)


def _command(name: str, *, again: bool) -> str:
    """Return the command to run once more, but for its --kind."""
    return f"flowpool add {name} --replace" if again else f"flowpool add {name}"


def _found(known: book.Accounts, name: str, kind: str | None, *, again: bool) -> Account | None:
    """Return the account with this name if it is to be replaced, None if it is to be a new one."""
    found = _find(known, name)
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


def _find(known: book.Accounts, name: str) -> Account | None:
    return next((account for account in known if account.name == name), None)


def _account(found: Account | None, name: str, kind: str | None, provider: str) -> Account:
    """Return the account as it is to be; what was set on a known one stays."""
    if found and found.provider != provider:
        raise Failure(
            f"{name} is an account of {found.provider}, not of {provider}; "
            f"run: flowpool add {name} --replace --provider {found.provider}"
        )
    if found:
        return replace(found, kind=Kind(kind)) if kind else found
    if kind is None:
        raise click.UsageError(f"--kind is needed: {', '.join(KINDS)}; run: flowpool add {name} --kind {SETUP_TOKEN}")
    return Account(id=book.new_id(), name=name, provider=provider, kind=Kind(kind))


def _read_secret(account: Account, *, again: bool) -> str:
    """Read the secret from a pipe, or ask for it without showing it."""
    if sys.stdin is None or sys.stdin.isatty():
        answer: str = click.prompt(f"{account.kind} of {account.name} (not shown)", hide_input=True, err=True)
        return answer
    data = sys.stdin.buffer.read(LARGEST + 1)
    mend = f"{_command(account.name, again=again)} --kind {account.kind}"
    if len(data) > LARGEST:
        raise BadSecret(f"the secret is longer than {LARGEST} bytes", mend)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadSecret("the secret is not text", mend) from None


def _save(path: Path, store: Store, found: Account | None, account: Account, credential: Credential) -> None:
    """Write the secret, then the account, so that no account is ever seen without one; undo the first if the second fails.

    found: the account as it was read before the secret was asked for; None when it is new. Both happen under the lock of
    accounts.toml: of two programs that add one name or one secret, the later sees the earlier.
    """
    previous = _stored(store, account)
    written = False

    def change(known: book.Accounts) -> book.Accounts:
        nonlocal written
        current = _find(known, account.name)
        if (current and current.id) != (found and found.id):
            raise Failure(f"{account.name} was added, replaced or removed meanwhile; look at: flowpool accounts")
        if previous is None or not shares_secret(previous, credential):
            _refuse_twin(store, known, account, credential)
        written = True  # perhaps in part, and undoing what was not done is harmless
        store.put(account.id, credential)
        if current is None:
            return (*known, account)
        return tuple(replace(one, kind=account.kind) if one is current else one for one in known)

    try:
        book.edit(path, change)
    except BaseException:
        if written:
            _undo(store, account, previous)
        raise


def _refuse_twin(store: Store, known: book.Accounts, account: Account, credential: Credential) -> None:
    """Raise Failure when another account has this secret: both would meet the same limits."""
    for one in known:
        kept = None
        with suppress(CredentialError):  # what cannot be read cannot be compared
            kept = None if one.id == account.id else store.get(one.id)
        if kept and shares_secret(kept, credential):
            is_there = any(other.id == account.id for other in known)
            again = _command(account.name, again=is_there) + ("" if is_there else f" --kind {account.kind}")
            raise Failure(
                f"the account {one.name} has this secret already; make another one for {account.name}, then run: {again}"
            )


def _stored(store: Store, account: Account) -> Credential | None:
    """Return the secret that is there; one that cannot be read is as good as none."""
    if account.id not in store.ids():
        return None
    try:
        return store.get(account.id)
    except CredentialError:
        return None


def _undo(store: Store, account: Account, previous: Credential | None) -> None:
    with suppress(CredentialError):  # the fault that led here is the one to show
        if previous is None:
            store.delete(account.id)
        else:
            store.put(account.id, previous)


def _lift(home: Home, account: Account) -> None:
    """Without a proxy: end what the next one would hold against the old secret."""
    if not home.state.exists():
        return
    from home.state import lifting  # noqa: PLC0415  # SQLAlchemy costs 200 ms
    from routing.verdicts import LOCKED_ROWS  # noqa: PLC0415

    try:
        lifting.lift(home.state, [account.id], LOCKED_ROWS)
    except HomeError as error:  # the secret is replaced; this is about how soon it is used
        click.echo(f"flowpool: {account.name} may stay held for its old secret: {error}", err=True)
