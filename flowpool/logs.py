"""`flowpool logs`: what the proxy said, from its log file."""

import re
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import click

from flowpool.arguments import COUNT, FOLLOW, pass_home
from flowpool.errors import Failure
from home.paths import Home

PAUSE = 0.3  # seconds between two looks at the file

_OF_A_REQUEST = re.compile(r"\S+Z INFO \{")  # as the log has it: its time, its level, its JSON


@click.command
@COUNT
@FOLLOW
@click.option("--all", "everything", is_flag=True, help="Also the lines of single requests, one JSON object each.")
@pass_home
def logs(home: Home, count: int, follow: bool, everything: bool) -> None:
    """Show what the proxy said last.

    Lines of single requests are left out: `flowpool requests` shows those.
    """
    if not home.log.exists():
        raise Failure(f"there is no log yet: {home.log}; start the proxy with: flowpool start")
    is_wanted = _any if everything else is_said
    lines = last(home.log, count, is_wanted)
    for line in lines:
        click.echo(line)
    if follow:
        for line in filter(is_wanted, new_lines(home.log)):
            click.echo(line)
    elif count and not lines and not everything:
        click.echo("flowpool: it said nothing but of single requests; run: flowpool requests", err=True)


def is_said(line: str) -> bool:
    """Tell whether a line is for people: not the one that each request writes."""
    return _OF_A_REQUEST.match(line) is None


def _any(_line: str) -> bool:
    return True


def last(path: Path, count: int, is_wanted: Callable[[str], bool] = _any) -> list[str]:
    """Return the last of the lines that are wanted, from older files too when the current one has too few."""
    found: list[str] = []
    for file in (path, *_older(path)):
        lines: deque[str] = deque(maxlen=count - len(found))
        with suppress(FileNotFoundError), file.open(encoding="utf-8", errors="replace") as text:
            lines.extend(filter(is_wanted, (line.rstrip("\n") for line in text)))
        found = [*lines, *found]
        if len(found) == count:
            break
    return found


def _older(path: Path) -> Iterator[Path]:
    """Yield the files before it, the newest first."""
    number = 1
    while (older := path.with_name(f"{path.name}.{number}")).exists():
        yield older
        number += 1


def new_lines(path: Path) -> Iterator[str]:
    """Yield lines as they are written, whole ones alone; a file that was begun anew is read from its start."""
    place, rest = path.stat().st_size, ""
    while True:
        size = path.stat().st_size if path.exists() else 0
        if size < place:
            place, rest = 0, ""
        if size > place:
            with path.open(encoding="utf-8", errors="replace") as text:
                text.seek(place)
                rest += text.read()
                place = text.tell()
            *lines, rest = rest.split("\n")
            yield from lines
        time.sleep(PAUSE)
