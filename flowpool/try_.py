"""`flowpool test`: one small request on one account, to see whether it serves."""

import json
import sys
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime

import click

from credentials import web, worth
from credentials.backends import open_store
from credentials.credential import API_KEY, Credential
from credentials.errors import CredentialError
from flowpool import names, proxy
from flowpool.arguments import pass_home
from flowpool.document import AccountLine
from flowpool.errors import Failure
from home import accounts as book
from home import outbound, settings
from home.errors import HomeError
from home.paths import Home
from home.schema import SETTINGS
from home.settings import Settings
from home.version import version
from routing.verdicts import RESERVE_ROW
from routing.words import Account, Demand

PATIENCE = 60.0  # seconds for one token
STATUS = "/_flowpool/status"
SESSION = "5h"
ALL = "account"  # the scope of a hold that is for all models


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked of whom, with which secret."""

    account: Account
    model: str
    secret: str = field(repr=False)

    def told(self, foreign: str) -> str:
        """A foreign text, fit for a screen."""
        from providers.anthropic import checks  # noqa: PLC0415  # the providers' code costs 100 ms

        return checks.told(foreign, self.secret)


@click.command(name="test")
@click.argument("name", metavar="NAME", shell_complete=names.complete)
@click.option("--model", help="Another model than the smallest Haiku.")
@click.option("--yes", is_flag=True, help="Also where that begins a 5-hour window.")
@pass_home
def test(home: Home, name: str, model: str | None, yes: bool) -> None:
    """Ask one account for one token.

    It tells who answered, how fast, and what its windows say.

    The provider is asked directly, past a running proxy: it would hop to another account where this one refuses. What comes of it changes nothing in the proxy. It costs a little quota; where it would begin a 5-hour window you are asked first.
    """
    chosen = settings.load(home.config)
    (account,) = names.find(book.load(home.accounts), (name,))
    model = _model(model)
    store = open_store(chosen.credentials.backend, home.state_folder)
    try:
        credential = _live(store.get(account.id), account)
    except CredentialError as error:
        raise error.naming(account.name) from None
    _agree(home, account, yes=yes)
    click.echo(f"asking {chosen.providers.anthropic.upstream} directly for one token of {model}, as {account.name}")
    _ask(chosen, Asked(account=account, model=model, secret=credential.access.reveal()))
    if held := _held(home, account):
        click.echo(f"the pool holds it {held}; to end that: flowpool lift {account.name}")


def _held(home: Home, account: Account) -> str:
    """Say for what and until when the pool leaves it alone though it serves; empty when it does not, or nobody can tell now."""
    try:
        standing = _standing(home, account)
    except (Failure, HomeError, CredentialError, ValueError):
        return ""
    from routing.moments import said  # noqa: PLC0415  # as the windows are told

    now = datetime.now(UTC)
    holds = [one for one in (standing.holds if standing else ()) if one.row not in (None, RESERVE_ROW)]
    return ", ".join(
        f"{'' if one.scope == ALL else f'for {one.scope} '}"
        + (f"until {said(one.until, now)}" if one.until else f"with no end: {one.because}")
        for one in holds
    )


def _model(typed: str | None) -> str:
    from providers.anthropic import minimal  # noqa: PLC0415  # the providers' code costs 100 ms

    if typed is None:
        return minimal.MODEL
    check = SETTINGS["launch.model"].check
    try:
        return str(check(typed)) or minimal.MODEL
    except ValueError:
        raise click.UsageError("--model must be the id of a model, such as claude-haiku-5-5") from None


def _live(credential: Credential, account: Account) -> Credential:
    """Return it if it may be asked with; only the command that renews logins renews it."""
    state = worth.state(credential, datetime.now(UTC))
    if state is worth.State.STALE:
        raise Failure(f"the access token of {account.name} is over; run: flowpool refresh {account.name}")
    return credential


def _agree(home: Home, account: Account, *, yes: bool) -> None:
    """Ask before a 5-hour window begins; a key has none. Raises Failure where nobody can be asked."""
    if yes or account.kind == API_KEY or _runs(home, account):
        return
    what = f"no 5-hour window of {account.name} is known to run, and this request would begin one"
    if sys.stdin is None or not sys.stdin.isatty():
        raise Failure(f"{what}; run: flowpool test {account.name} --yes")
    click.confirm(f"{what}; ask anyway?", abort=True, err=True)


def _runs(home: Home, account: Account) -> bool:
    """Tell whether its 5-hour window runs, as the proxy knows it, or the last run left it."""
    now = datetime.now(UTC)
    standing = _standing(home, account)
    windows = standing.windows if standing else ()
    return any(window.key == SESSION and window.resets_at and window.resets_at > now for window in windows)


def _standing(home: Home, account: Account) -> AccountLine | None:
    """Return how it stands, as the proxy knows it, or the last run left it. Raises ValueError, Failure and what reading files does."""
    from flowpool import alone, document  # noqa: PLC0415  # SQLAlchemy costs 200 ms

    running = proxy.find(home)
    data = running.get(STATUS) if running else None
    _, told = document.parse(data if data is not None else json.dumps(alone.draw(home, datetime.now(UTC))).encode())
    return next((one for one in told.accounts if one.name == account.name), None)


def _ask(chosen: Settings, asked: Asked) -> None:
    """Ask, and say what came of it; ends with 1 on a refusal. Raises Failure where no answer came."""
    from providers.anthropic import minimal  # noqa: PLC0415

    upstream = chosen.providers.anthropic.upstream
    question = minimal.question(upstream, asked.account.kind, asked.secret, asked.model, f"flowpool/{version()}")
    sent_at, began = datetime.now(UTC), time.monotonic()
    try:
        answer = web.ask(question, PATIENCE, outbound.way(chosen.outbound))
    except web.UnreachableError as error:
        sent = "no answer came, though it may have been worked on" if error.was_sent else "nothing was sent"
        raise Failure(
            f"{upstream} was not reached: {sent} ({asked.told(str(error))}); run: curl -sSI {upstream}"
        ) from None
    took = time.monotonic() - began
    is_served = _judge(chosen, asked, answer, took)
    click.echo(_windows(answer, sent_at))
    if not is_served:
        sys.exit(1)


def _judge(chosen: Settings, asked: Asked, answer: web.Answer, took: float) -> bool:
    """Say who answered, or why not and what to do; tell whether it served."""
    from flowpool.refusals import explain  # noqa: PLC0415  # with the providers' code
    from providers.anthropic import demand, verdicts  # noqa: PLC0415
    from providers.contract import Answer  # noqa: PLC0415

    account, model = asked.account, asked.model
    wanted = Demand(provider=account.provider, model=model, family=demand.family(model), side=True)
    shown = Answer(status=answer.status, headers=answer.headers, body=answer.body)
    verdict = verdicts.classify(shown, wanted, chosen.rules, datetime.now(UTC))
    served, found = _served(answer.body), asked.told(answer.headers.get("request-id", ""))
    number = f" (request {found})" if found else ""
    if verdict.is_refusal:
        meaning, mend = explain(verdict, account, model)
        refused = (
            f"{account.name} refused after {took:.1f} s with {answer.status}: {asked.told(verdict.because)}{number}"
        )
        click.echo(f"{refused}\n{meaning} (docs/verdicts.md, row {verdict.row}); run: {mend}", err=True)
    elif not served:
        click.echo(
            f"what answered at {chosen.providers.anthropic.upstream} with {answer.status} is not the Messages API{number};"
            " run: flowpool config show",
            err=True,
        )
    else:
        click.echo(f"{account.name} answered in {took:.1f} s: {asked.told(served)}{number}")
    return bool(served) and not verdict.is_refusal


def _served(body: bytes) -> str:
    """The model that an answer names; empty when it is no answer of the vendor's."""
    try:
        found = json.loads(body)["model"]
    except (ValueError, RecursionError, KeyError, TypeError):
        return ""
    return found if isinstance(found, str) else ""


def _windows(answer: web.Answer, sent_at: datetime) -> str:
    """What the answer's headers say of the account's windows, in one line."""
    from providers.anthropic import headers  # noqa: PLC0415
    from routing.moments import said  # noqa: PLC0415

    now = datetime.now(UTC)
    found = headers.readings(answer.headers, sent_at=sent_at, now=now)
    shown = [
        f"{one.window.key} {'not known' if one.used is None else f'{one.used:.0%} used'}"
        + (f" until {said(one.resets_at, now)}" if one.resets_at else "")
        for one in found
    ]
    return f"its windows: {', '.join(shown)}" if shown else "its answer tells nothing of its windows"
