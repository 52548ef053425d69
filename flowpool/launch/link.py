"""`flowpool link`: a `claude` of ours, which goes before the real one on the PATH and through the pool."""

import os
import shlex
import shutil
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import click

from flowpool.arguments import pass_home
from flowpool.errors import Failure
from flowpool.launch.binary import MARKER, find, is_link
from flowpool.launch.places import PROGRAM, WINDOWS
from home import paths
from home.paths import Home

MODULE = "flowpool.launch.linked"


@click.command
@click.option("--remove", is_flag=True, help="Take it away again.")
@pass_home
def link(home: Home, *, remove: bool) -> None:
    """Let the command claude go through the pool.

    It writes a small `claude` into a folder of its own and says how that folder comes before the real one on the PATH; no file of your shell is changed. While no proxy answers, that `claude` starts the real one as if it were not there.
    """
    if remove:
        for line in unlink(home) or ["there is no link"]:
            click.echo(line)
        return
    path = home.link
    if path.exists() and not is_link(path):
        raise Failure(f"{path} is not flowpool's; move it away, then run: flowpool link")
    is_new = _write(path, text(home, os.environ))
    click.echo(f"{'wrote' if is_new else 'there is already'} {path}")
    for line in _path_lines(path, os.environ):
        click.echo(line)
    try:
        find(os.environ, ours=path)
    except Failure as failure:
        click.echo(f"flowpool: {failure}; until then it starts nothing", err=True)


def unlink(home: Home) -> list[str]:
    """Remove the link if there is one; return what was undone, a line each. What is there and is not ours stays."""
    path = home.link
    if not is_link(path):
        return []
    path.unlink()
    with suppress(OSError):  # something else is in it
        path.parent.rmdir()
    return [f"removed {path}"]


def text(home: Home, variables: Mapping[str, str], platform: str = sys.platform) -> str:
    """Return the script; -P: what lies in the folder where somebody starts it is no module of ours.

    A home that FLOWPOOL_HOME names is found again without it.
    """
    given = variables.get(paths.VARIABLE)
    python = os.path.abspath(sys.executable)  # noqa: PTH100  # resolve() would leave the virtual environment
    says, marker = "starts Claude Code by way of the pool; `flowpool link` wrote it", MARKER.decode()
    if platform == WINDOWS:
        where = f'@if not defined {paths.VARIABLE} set "{paths.VARIABLE}={home.state_folder}"\r\n' if given else ""
        return f'@rem {marker}: {says}\r\n@setlocal\r\n{where}@"{python}" -P -m {MODULE} %*\r\n'
    folder = shlex.quote(str(home.state_folder))
    where = f'[ -n "${paths.VARIABLE}" ] || {paths.VARIABLE}={folder}\nexport {paths.VARIABLE}\n' if given else ""
    gone = shlex.quote(f"flowpool: {python} is gone; run flowpool link again, or remove {home.link}")
    return (
        f"#!/bin/sh\n# {marker}: {says}\n{where}"
        f"[ -x {shlex.quote(python)} ] || {{ echo {gone} >&2; exit 127; }}\n"
        f'exec {shlex.quote(python)} -P -m {MODULE} "$@"\n'
    )


def _write(path: Path, script: str) -> bool:
    """Write it unless it is there as it is to be, whole or not at all; tell whether it was written."""
    data = os.fsencode(script)  # a folder may be called what is no text
    if path.exists() and path.read_bytes() == data and os.access(path, os.X_OK):
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        beside.write_bytes(data)
        beside.chmod(stat.S_IRWXU)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    return True


def _path_lines(path: Path, variables: Mapping[str, str]) -> list[str]:
    """Say what the PATH needs, if anything."""
    if is_first(variables):
        return [f"`{PROGRAM}` goes through the pool in this shell"]
    return [
        f"to use it, put its folder first on the PATH, in your shell's own file: {path_line(path.parent, variables)}"
    ]


def is_first(variables: Mapping[str, str]) -> bool:
    """Tell whether who types its name starts a link of ours."""
    found = shutil.which(PROGRAM, path=variables.get("PATH", ""))
    return found is not None and is_link(Path(found))


def path_line(folder: Path, variables: Mapping[str, str], platform: str = sys.platform) -> str:
    """Return the one line for the person's shell."""
    if platform == WINDOWS:
        return f'$env:Path = "{folder};$env:Path"'
    if Path(variables.get("SHELL", "")).name == "fish":
        return f"fish_add_path --move {shlex.quote(str(folder))}"
    return f'export PATH={shlex.quote(str(folder))}:"$PATH"'
