"""`flowpool requests`: what was asked through the pool, and what became of it."""

import json
import os
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import click

from flowpool import proxy, rows
from flowpool.arguments import COUNT, FOLLOW, pass_home
from flowpool.errors import Failure
from flowpool.proxy import Proxy
from home.paths import Home

PATH = "/_flowpool/requests"
EVERY = 0.5  # seconds between two looks of --follow
KEPT = 1000  # what a running proxy remembers

type Line = dict[str, Any]


@click.command
@COUNT
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@FOLLOW
@pass_home
def requests(home: Home, count: int, as_json: bool, follow: bool) -> None:
    """Show the latest requests, and what they met.

    "work limit -> home" means: the account work had met its limit, and home served. "(count)" behind a model: tokens were counted,
    no turn was asked. Tokens are those of the question (caches included) and of the answer.
    """
    if count == 0 and not follow:
        raise click.UsageError("-n 0 shows nothing; leave it out, or add -f to show only what comes")
    try:
        running = proxy.find(home)
        fresh = _ask(running, f"{PATH}?last={KEPT}") if running else None
        if fresh is None and follow:
            raise Failure("no proxy is running; start it with: flowpool start")
        _show(_latest(home, fresh or [], count), as_json=as_json, follow=follow)
        for line in _following(home, fresh or []) if follow else ():
            _show([line], as_json=as_json, follow=True)
    except KeyboardInterrupt:
        if not follow:
            raise
    except BrokenPipeError:  # whoever reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _ask(running: Proxy, path: str) -> list[Line] | None:
    """Return lines of the running proxy, oldest first; None when it is not there any more."""
    data = running.get(path)
    if data is None:
        return None
    found = proxy.document(running, data).get("requests")
    if not isinstance(found, list) or not all(
        isinstance(line, dict) and isinstance(line.get("id"), str) for line in found
    ):
        raise running.strange()
    return found


def _latest(home: Home, fresh: list[Line], count: int) -> list[Line]:
    """Return the last so many: those that the proxy remembers, before them those of the state."""
    if len(fresh) < count and home.state.exists():
        from home.state import reader  # noqa: PLC0415  # not needed beside a proxy that has run for a while

        known = {line["id"] for line in fresh}
        fresh = [line for line in reader.requests(home.state, count) if line["id"] not in known] + fresh
    return fresh[len(fresh) - min(count, len(fresh)) :]


def _following(home: Home, shown: list[Line]) -> Iterator[Line]:
    """Yield each request as it ends, for ever; a proxy that stops is waited for."""
    seen = dict.fromkeys(line["id"] for line in shown)
    last = next(reversed(seen), "")
    is_gone = False
    while True:
        time.sleep(EVERY)
        running = proxy.find(home)
        lines = _ask(running, f"{PATH}?after={quote(last, safe='')}") if running else None
        if lines is None:
            if not is_gone:
                click.echo("flowpool: the proxy has stopped; waiting for it", err=True)
            is_gone = True
            continue
        is_gone = False
        for line in lines:
            last = line["id"]
            if last not in seen:
                seen[last] = None
                yield line
        while len(seen) > 2 * KEPT:
            del seen[next(iter(seen))]


def _show(lines: list[Line], *, as_json: bool, follow: bool) -> None:
    """Print lines: as they are, as a table, or where more may follow as columns of fixed width; tabs for a pipe."""
    if as_json:
        for line in lines:
            click.echo(json.dumps(line, separators=(",", ":")))
        return
    from flowpool.views import requests as view  # noqa: PLC0415  # rich costs 50 ms
    from flowpool.views.screen import show  # noqa: PLC0415

    read, now, arrow = [rows.read(line) for line in lines], datetime.now(UTC), _arrow()
    if not read and not follow:
        click.echo("no requests yet")
    elif sys.stdout.isatty() and not follow:
        show(view.view(read, now, arrow=arrow))
    else:
        join = view.columns if sys.stdout.isatty() else "\t".join
        for row in read:
            click.echo(join(view.cells(row, now, arrow=arrow)))


def _arrow() -> str:
    """Return an arrow that the terminal can show."""
    try:
        "→".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return "->"
    return "→"
