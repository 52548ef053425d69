"""The file that describes the service: whose it is, and how it differs from what this flowpool would write."""

import os
import shlex
from collections.abc import Mapping
from typing import NamedTuple

from credentials import files
from flowpool import installing
from flowpool.errors import Failure
from flowpool.launch import program as programs
from flowpool.launch.manager import Manager
from home.errors import HomeError
from home.paths import Home

RENEW = "flowpool service install"


def read(manager: Manager) -> bytes | None:
    """Return the file's text, None when none is there. Raises Unreadable."""
    return files.read(manager.path, private=False)


class Difference(NamedTuple):
    """How the file is not as this flowpool would write it. mend: the command for that. is_foreign: whether it must stay as it is."""

    what: str
    mend: str
    is_foreign: bool = False


def read_ours(manager: Manager, home: Home) -> bytes | None:
    """Return the same. Raises Failure when it must stay: somebody else wrote it, or it runs another home."""
    text = read(manager)
    other = None if text is None else differs(home, manager, text)
    if other is not None and other.is_foreign:
        raise Failure(f"{manager.path} stays: {other.what}; run: {other.mend}")
    return text


def differs(home: Home, manager: Manager, text: bytes) -> Difference | None:
    """Say how it differs; None when it does not."""
    variables = manager.environment(text)
    if variables is None:
        path = str(manager.path)
        aside = f"mv {shlex.quote(path)} {shlex.quote(f'{path}.old')}"
        return Difference("flowpool did not write it", aside, is_foreign=True)
    if programs.leading(variables) != programs.leading(programs.environment(home, os.environ)):
        return _of_another_home(programs.leading(variables))
    try:
        ours = manager.text(programs.program(home))
    except (Failure, HomeError):
        return Difference("another installation of flowpool wrote it", installing.command())
    return None if text == ours else Difference("it is not as this flowpool would write it", RENEW)


def _of_another_home(where: Mapping[str, str]) -> Difference:
    shown = ", ".join(f"{name}={value}" for name, value in where.items())
    setting = " ".join(f"{name}={shlex.quote(value)}" for name, value in where.items()) or "env -u FLOWPOOL_HOME"
    whose = f"the proxy of {shown}" if shown else "the proxy of the usual folders"
    what = f"it runs {whose}, and there is one service for each person"
    return Difference(what, f"{setting} flowpool service uninstall", is_foreign=True)
