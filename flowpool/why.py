"""`flowpool why`: how one request came to where it went, as it was known then."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from flowpool import proxy, story
from flowpool.arguments import pass_home
from flowpool.errors import Failure
from flowpool.proxy import Proxy
from home.errors import HomeError
from home.paths import Home

PATH = "/_flowpool/why"
LAST = "last"
PASSED = "passed"  # how requests end that no account was chosen for
PREFIX = "flowpool-"  # of the id in the head that a client gets while its request waits
MOST = 5  # ids that are named where several begin alike
SEEN = 50  # of the ledger's latest lines, among which the last one is looked for that an account was chosen for
LISTED = "ids stand in the lists of requests; run: flowpool requests -n 500, or flowpool logs --all"

_ID = re.compile(r"[0-9a-f]{1,12}")

type Plain = dict[str, Any]


@click.command
@click.argument("request", metavar="ID|last")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@pass_home
def why(home: Home, request: str, as_json: bool) -> None:
    """Show why a request went where it went, and what it cost.

    It tells who might serve, who was asked, and what each answer meant, as it was known then. ID is a request's id, a beginning of it that no other has, or `last`. `flowpool requests` lists ids.
    """
    beginning = request.removeprefix(PREFIX)
    if beginning != LAST and not _ID.fullmatch(beginning):
        raise Failure(f'that is no request\'s id, which has up to 12 of the letters 0-9a-f, or "last"; {LISTED}')
    told = find(home, beginning)
    file = _file(home, told["id"])
    if as_json:
        click.echo(json.dumps(told if file is None else told | {"file": str(file)}, indent=2))
        return
    from flowpool.views.screen import show  # noqa: PLC0415  # rich costs 50 ms
    from flowpool.views.why import view  # noqa: PLC0415

    show(view(story.read(told), datetime.now(UTC)))
    if file is not None:
        click.echo(f"\nall that was said: {file}")


def find(home: Home, beginning: str) -> Plain:
    """Return the story of the request: the running proxy's, else what the state still knows of it."""
    running = proxy.find(home)
    stories = {told["id"]: told for told in _ask(running, beginning)} if running else {}
    if stories and beginning == LAST:
        return _only(stories, beginning) | {"kept": True}
    lines = _lines(home, beginning)
    if beginning == LAST:
        lines = dict([next(((i, one) for i, one in lines.items() if one["ended"] != PASSED), ("", {}))])
        lines.pop("", None)
    found = _only(lines | stories, beginning)
    if found["id"] in stories:
        return found | {"kept": True}
    from home.state import reader  # noqa: PLC0415  # not needed for what the proxy remembers

    kept = reader.story(home.state, found["id"])
    return story.of_line(found) if kept is None else kept | {"kept": True}


def _file(home: Home, request: str) -> Path | None:
    """Return the file of the whole exchange, where `[log] bodies` keeps such, as config.toml stands now."""
    if not home.config.exists():
        return None
    from home import bodies, settings  # noqa: PLC0415  # settings cost 20 ms, and only whole exchanges need them

    try:
        folder = settings.load(home.config).log.bodies
    except HomeError:  # `doctor` tells what is wrong with it
        return None
    return bodies.find(Path(folder).expanduser(), request) if folder else None


def _only(found: dict[str, Plain], beginning: str) -> Plain:
    if not found and beginning == LAST:
        raise Failure("no request yet; send one first: through what `flowpool env` prints")
    if not found:
        raise Failure(f"no request whose id begins with {beginning} is known; {LISTED}")
    if len(found) > 1:
        raise Failure(f"several requests begin with {beginning}: {', '.join(list(found)[:MOST])}; give more letters")
    return next(iter(found.values()))


def _ask(running: Proxy, beginning: str) -> list[Plain]:
    """Return the stories that the running proxy has; none when it is not there any more."""
    data = running.get(f"{PATH}?id={quote(beginning, safe='')}")
    found = [] if data is None else proxy.document(running, data).get("stories")
    if not isinstance(found, list) or not all(
        isinstance(one, dict) and isinstance(one.get("id"), str) for one in found
    ):
        raise running.strange()
    for one in found:
        try:
            story.read(one)
        except ValueError as error:
            raise running.strange() from error
    return found


def _lines(home: Home, beginning: str) -> dict[str, Plain]:
    """Return the ledger's lines by id, the latest first."""
    if not home.state.exists():
        return {}
    from home.state import reader  # noqa: PLC0415

    is_last = beginning == LAST
    found = reader.requests_like(home.state, "" if is_last else beginning, SEEN if is_last else MOST)
    return {line["id"]: line for line in found}
