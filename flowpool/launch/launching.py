"""A launch that goes through the pool: what its Claude Code gets, and its start. `flowpool run` and the link share it."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from credentials.errors import CredentialError
from flowpool.addresses import reachable
from flowpool.errors import Failure
from flowpool.launch import bundle, environment, loops, management, model, overruling, precedence
from flowpool.launch.environment import Prepared, Way
from flowpool.launch.logged_in import has_login
from flowpool.launch.starting import become
from home import accounts as book
from home import controlkey, running
from home.checks import Address
from home.errors import HomeError
from home.paths import Home
from home.running import Running
from home.settings import Settings

CLAUDE, FORWARD = "claude", "forward"  # kinds of listeners
AUTHORITY = Path("mitmproxy") / "mitmproxy-ca-cert.pem"
STATUS = "/_flowpool/status"
PATIENCE = 1.5  # seconds for the proxy to say how full the accounts are
PROVIDER = "anthropic"  # whose accounts serve a Claude Code
NO_PRIMARY = "no account is the primary, so what is bound to an identity is refused; run: flowpool primary NAME"


class NoAccountError(Failure):
    """Nobody can serve: the pool has no account, and the client no login."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What is to be started. account: the name of the one that it is to use, empty for any."""

    program: Path
    arguments: Sequence[str]
    environ: Mapping[str, str] = field(repr=False)
    account: str = ""
    forward: bool = False
    resumes: bool = False


def say(line: str) -> None:
    """Tell the person something; what the program prints stays its own."""
    sys.stderr.write(f"flowpool: {line}\n")
    sys.stderr.flush()


def start(home: Home, chosen: Settings, proxy: Running, launch: Launch) -> int:
    """Start it; returns its code, where it did not take our place. Raises Failure."""
    seen = precedence.look(launch.arguments, launch.environ, Path())
    ready, values = precedence.ready(
        seen, launch.environ, lambda environ: through(home, chosen, proxy, replace(launch, environ=environ))
    )
    passed = overruling.overruled(home, seen, values, launch.arguments, asks_helper=False)
    helped = [f"{precedence.HELPER} is set, and not asked: with it Claude Code would not use a login"]
    for note in (*ready.notes, *(helped if seen.helper else ()), *overruling.told(seen, values)):
        say(note)
    launch = replace(launch, arguments=passed, environ={**launch.environ, **seen.env})
    arguments = with_model(home, chosen, proxy.listen[CLAUDE], launch)
    if launch.resumes:
        from flowpool.launch import resuming  # noqa: PLC0415  # most launches are not watched

        watched = resuming.watched(arguments)
        if watched is not None:
            environ = loops.marked(ready.values, launch.program)
            return resuming.run(launch.program, watched, environ, say, lambda: recovery(home, proxy, launch))
        say("nothing is watched: no id tells which session this launch is of")
    return become(launch.program, arguments, ready.values)


def through(home: Home, chosen: Settings, proxy: Running, launch: Launch) -> Prepared:
    """Return the environment of a launch that goes through the pool. Raises Failure."""
    headers = [(environment.PIN, launch.account)] if launch.account else []
    token, notes = _identity(home, launch)
    way = Way(headers=tuple(headers), token=token, wait=chosen.wait)
    if launch.forward:
        ready = _by_proxy(home, chosen, proxy, launch, way)
        return replace(ready, notes=(*ready.notes, *notes))
    base_url = f"http://{reachable(proxy.listen[CLAUDE])}"
    headers += [(environment.KEY, key)] if (key := _key(home, chosen)) else []
    ready = environment.prepared(launch.environ, replace(way, base_url=base_url, headers=tuple(headers)))
    return replace(ready, notes=(*ready.notes, *notes))


def need_account(home: Home, launch: Launch) -> None:
    """Raise NoAccountError where a launch through the pool could only fail. A token in Claude Code's settings is a login, too."""
    if _accounts(home) != ():
        return
    seen = precedence.look(launch.arguments, launch.environ, Path())
    if not any(has_login(environment.undone({**launch.environ, **more})) for more in ({}, seen.env)):
        raise NoAccountError("the pool has no account yet; run: flowpool login NAME")


def _identity(home: Home, launch: Launch) -> tuple[str, tuple[str, ...]]:
    """Return the token that stands for no login, empty where there is one, and what a person should know of it."""
    if has_login(environment.undone(launch.environ)):
        return "", ()
    known = _accounts(home)
    has_primary = known is None or any(one.primary for one in known)
    return _placeholder(), () if has_primary else (NO_PRIMARY,)


def _accounts(home: Home) -> book.Accounts | None:
    """Return those that could serve; None where that cannot be told, for the proxy may know better."""
    try:
        return tuple(one for one in book.load(home.accounts) if one.provider == PROVIDER)
    except (HomeError, CredentialError):
        return None


def _key(home: Home, chosen: Settings) -> str:
    """Return what a client must show; nothing where it need not."""
    return controlkey.ensure(home.client_key).reveal() if chosen.admit.key else ""


def _by_proxy(home: Home, chosen: Settings, proxy: Running, launch: Launch, way: Way) -> Prepared:
    if FORWARD not in proxy.listen:
        is_set = chosen.listen.forward is not None
        mend = "run: flowpool restart" if is_set else 'set [listen] forward = "127.0.0.1:3458" in config.toml'
        raise Failure(f"the running proxy has no address for --forward, which [listen] forward gives it; {mend}")
    theirs = environment.undone(launch.environ).get(environment.AUTHORITIES, "")
    own = Path(proxy.ca) if proxy.ca else home.state_folder / AUTHORITY
    authorities, note = bundle.file_for(own, theirs, home.state_folder)
    shown = f"flowpool:{key}@" if (key := _key(home, chosen)) else ""
    door = f"http://{shown}{reachable(proxy.listen[FORWARD])}"
    ready = environment.prepared(launch.environ, replace(way, proxy=door, authorities=str(authorities)))
    return Prepared(values=ready.values, notes=(*ready.notes, *([note] if note else [])))


def _placeholder() -> str:
    from providers.anthropic.placeholder import PLACEHOLDER  # noqa: PLC0415  # costs 60 ms, and most clients are logged in

    return PLACEHOLDER


def with_model(home: Home, chosen: Settings, address: Address, launch: Launch) -> tuple[str, ...]:
    """Return the arguments, with the model that launches are to use unless the person names one, or it has no room."""
    given, wanted = tuple(launch.arguments), chosen.launch.model
    if not wanted or management.is_management(given) or model.is_named(given, launch.environ):
        return given
    found = _room(home, address, wanted, launch.account)
    if found is None:
        return (model.OPTION, wanted, *given)
    until = "" if found.until is None else f" until {found.until.astimezone():%a %H:%M}"
    say(f"no account has room for {wanted}{until}; Claude Code chooses its model")
    return given


def recovery(home: Home, proxy: Running, launch: Launch) -> datetime | None:
    """Return before when nobody may serve the launch; None where somebody may now, or nobody can tell."""
    address = (running.read(home.running) or proxy).listen.get(CLAUDE)  # another proxy may have taken over
    wanted = model.named(launch.arguments, launch.environ)
    found = _room(home, address, wanted, launch.account, lasting=timedelta(0)) if address else None
    return None if found is None else found.until


def _room(
    home: Home, address: Address, wanted: str, account: str, lasting: timedelta = model.LASTING
) -> model.NoRoom | None:
    """What the proxy knows of it; whatever goes wrong, nothing speaks against the model."""
    from flowpool import ask  # noqa: PLC0415  # these are needed only where a model is set
    from providers.anthropic.demand import family  # noqa: PLC0415

    try:
        key = controlkey.read(home.control_key)
        headers = {environment.KEY: key.reveal()} if key else {}
        code, data = ask.get(reachable(address), STATUS, headers, PATIENCE)
        status = json.loads(data)
    except Exception:  # noqa: BLE001  # a launch does not fail for it
        return None
    if code != 200:  # noqa: PLR2004
        return None
    return model.room(status, family(wanted), datetime.now(UTC), pinned=account, lasting=lasting)
