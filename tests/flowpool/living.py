"""Real proxies in the background, of a test's own home."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flowpool import stop
from home import running
from home.paths import Home
from home.running import Running
from tests.flowpool.cli import Shell

CONFIG = """
version = 1
[listen]
claude = "127.0.0.1:0"
[providers.anthropic]
upstream = "http://127.0.0.1:9"
[credentials]
backend = "file"
"""


def place(folder: Path) -> Home:
    """A home that is one folder."""
    return Home(config_folder=folder, state_folder=folder).make()


@contextmanager
def quiet(shell: Shell) -> Iterator[Home]:
    """The home of a shell, with settings that let a proxy run; none does afterwards."""
    found = place(shell.home)
    found.config.write_text(CONFIG)
    try:
        yield found
    finally:
        stop.end(found, now=True, say=lambda _: None)


def serving(home: Home) -> Running:
    """Who runs there."""
    found = running.read(home.running)
    assert found is not None
    assert found.born
    os.kill(found.pid, 0)
    return found
