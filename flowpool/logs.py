"""`flowpool logs`: what the proxy said, from its log file."""

import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import click

from flowpool.arguments import COUNT, FOLLOW, pass_home
from flowpool.errors import Failure
from home.paths import Home

PAUSE = 0.3  # seconds between two looks at the file


@click.command
@COUNT
@FOLLOW
@pass_home
def logs(home: Home, count: int, follow: bool) -> None:
    """Show what the proxy said last."""
    if not home.log.exists():
        raise Failure(f"there is no log yet: {home.log}; start the proxy with: flowpool serve")
    for line in last(home.log, count):
        click.echo(line)
    if follow:
        for line in new_lines(home.log):
            click.echo(line)


def last(path: Path, count: int) -> list[str]:
    """Return the last lines, from the newest older file too when the current one has too few."""
    lines: deque[str] = deque(maxlen=count)
    for file in (path.with_name(f"{path.name}.1"), path):
        if file.exists():
            with file.open(encoding="utf-8", errors="replace") as text:
                lines.extend(line.rstrip("\n") for line in text)
    return list(lines)


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
