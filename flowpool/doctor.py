"""`flowpool doctor`: looks at everything that a pool needs, and changes nothing unless it is asked to."""

import json
import os
import shlex
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Thread

import click

from credentials.redaction import without_tokens
from flowpool.findings import (
    clock,
    connected,
    documents,
    folders,
    keeping,
    leftovers,
    link,
    listening,
    logins,
    mitm,
    owners,
    people,
    placed,
    service,
    wayout,
)
from flowpool.findings import programs as installed
from flowpool.findings.finding import Finding, Level, fail, skip
from flowpool.findings.refused import Refused, refused
from flowpool.findings.traps import traps
from flowpool.proxy import clean
from home import clientlogin, outbound
from home.accounts import Accounts
from home.checks import Address
from home.paths import Home
from home.settings import Settings
from routing.words import AccountId

UNREAD = "not looked at: {} must be readable first"

type Check = Callable[[], list[Finding] | Finding]


@click.command
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@click.option(
    "--fix", is_flag=True, help="First undo what was begun and not ended, and remove what killed programs left."
)
@click.pass_obj
def doctor(home: Home, as_json: bool, fix: bool) -> None:
    """Look at all that a pool needs, and say what mends it.

    Nothing is changed without --fix: no file is written, no login renewed. Each account's secret is shown to its provider, as a request
    would. Ends with 1 when something failed; warnings are no failure.
    """
    found = (*(leftovers.fixed(home) if fix else ()), *examine(home))
    is_ok = not any(one.level is Level.FAIL for one in found)
    if as_json:
        click.echo(json.dumps({"ok": is_ok, "parts": [_plain(one) for one in found]}, indent=2))
    else:
        width = max(len(_what(one)) for one in found)
        for one in found:
            click.echo(f"{one.level:<4}  {_what(one):<{width}}  {_said(one.message)}{_mend(one)}")
    if not is_ok:
        sys.exit(1)


def examine(home: Home) -> tuple[Finding, ...]:
    """Return what was found of every part, in order; what takes time is done side by side."""
    chosen, config = documents.config(home)
    known, accounts = documents.accounts(home)
    checks: list[Check] = [installed.python, installed.mitmproxy, lambda: config, lambda: accounts]
    kept, keeping_found = _secrets(home, chosen, known)
    checks += [lambda: keeping_found, partial(folders.folders, home), partial(leftovers.left, home)]
    ours, proxy = listening.running(home)
    checks += [*_listening(home, chosen, ours, proxy), partial(connected.connected, home, ours)]
    checks.append(partial(placed.placed, home, os.environ))
    checks.append(
        partial(clock.clock, chosen.providers.anthropic.upstream, outbound.way(chosen.outbound))
        if chosen
        else _unread(clock.PART, "config.toml")
    )
    checks += [partial(wayout.check, home, chosen)] if chosen else []
    checks += _accounts(chosen, known, kept, refused(home.state, is_open=ours is not None))
    checks += [partial(installed.client, name) for name in installed.CLIENTS]
    checks += [partial(service.service, home), partial(link.link, home, os.environ)]
    checks += _surroundings(ours or (chosen.listen.claude if chosen else None), known, kept)
    checks.append(partial(people.others, is_keyed=chosen is not None and chosen.admit.key))
    return tuple(one for found in _at_once(checks) for one in found)


def _at_once(checks: Sequence[Check]) -> list[Sequence[Finding]]:
    """Run all checks side by side, each in a thread that keeps nobody who is tired of waiting."""
    found: list[Sequence[Finding]] = [()] * len(checks)

    def run(place: int, check: Check) -> None:
        found[place] = _guarded(check)

    threads = [Thread(target=run, args=pair, daemon=True) for pair in enumerate(checks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def _secrets(home: Home, chosen: Settings | None, known: Accounts | None) -> tuple[keeping.Kept | None, list[Finding]]:
    """Find where secrets are kept, and read them; None when they cannot be looked at."""
    if chosen is None:
        return None, [skip(part, UNREAD.format("config.toml")) for part in (keeping.KEYRING, keeping.SECRETS)]
    find, ring = keeping.keyring(chosen.credentials.backend)
    store, secrets = keeping.secrets(chosen.credentials.backend, home.state_folder, known or (), find)
    kept = None if store is None or known is None else keeping.read(store, known)
    return kept, [ring, secrets]


def _listening(home: Home, chosen: Settings | None, ours: Address | None, proxy: Finding) -> list[Check]:
    """Who has the address, and who can reach it. ours: where this home's proxy listens; proxy: how it is."""
    if chosen is None:
        return [_unread(listening.PORT, "config.toml"), lambda: proxy]
    listen = chosen.listen.claude
    return [
        partial(listening.port, listen, ours, home),
        lambda: proxy,
        partial(listening.exposure, ours or listen, home, is_keyed=chosen.admit.key),
    ]


def _accounts(
    chosen: Settings | None,
    known: Accounts | None,
    kept: keeping.Kept | None,
    ended: Mapping[AccountId, Refused],
) -> list[Check]:
    if chosen is None or known is None or kept is None:
        missing = "config.toml" if chosen is None else "accounts.toml" if known is None else "the store of secrets"
        return [_unread(logins.PART, missing)]
    upstream, now, way = chosen.providers.anthropic.upstream, datetime.now(UTC), outbound.way(chosen.outbound)
    check = partial(logins.check, upstream, way=way)
    return [partial(check, account, kept[account.id], now, ended.get(account.id)) for account in known]


def _surroundings(listen: Address | None, known: Accounts | None, kept: keeping.Kept | None) -> list[Check]:
    """What lies outside the pool's own folder."""
    place = clientlogin.usual(os.environ)
    checks: list[Check] = [
        partial(traps, os.environ, place, listen),
        partial(mitm.options, Path.home() / ".mitmproxy"),
    ]
    if known is not None and kept is not None:
        checks += [partial(owners.owners, place, known, kept), partial(owners.duplicates, known, kept)]
    return checks


def _unread(part: str, what: str) -> Check:
    return lambda: skip(part, UNREAD.format(what))


def _guarded(check: Check) -> Sequence[Finding]:
    """Run one check; a fault in it must not hide what the others found."""
    try:
        found = check()
    except OSError as error:
        return [fail("doctor", f"{error.filename}: {error.strerror}", f"ls -ld {shlex.quote(str(error.filename))}")]
    except Exception as error:  # noqa: BLE001  # whatever it is, it is one line among the others
        at = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{type(error).__name__} in {Path(at.filename).name}:{at.lineno}"
        return [fail("doctor", f"a fault of flowpool's own to be reported, {where}", "flowpool --version")]
    return found if isinstance(found, list) else [found]


def _what(found: Finding) -> str:
    return f"{found.part} {found.account}" if found.account else found.part


def _said(text: str) -> str:
    """Return a text that can neither steer a terminal nor show what has the shape of a token."""
    return without_tokens(clean(text))


def _mend(found: Finding) -> str:
    return f"; run: {_said(found.mend)}" if found.mend else ""


def _plain(found: Finding) -> dict[str, str | None]:
    return {
        "part": found.part,
        "account": found.account or None,
        "level": found.level.value,
        "message": _said(found.message),
        "mend": _said(found.mend) or None,
    }
