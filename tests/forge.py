"""A process that has our modules and mitmproxy's imported, and forks for each run: most of a start's time is its imports.

Run as a program it answers on the socket whose descriptor is its argument. What is forked sees its own arguments, environment, folder
and standard streams, and ends as the interpreter would end it.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[1]
FLOWPOOL, SERVE = "flowpool.main:main", "tests.e2e.entry:run"
MITMDUMP, MITMWEB = "mitmproxy.tools.main:mitmdump", "mitmproxy.tools.main:mitmweb"
LARGEST = 2**16  # bytes of one command
STREAMS = 3
MOST_FILES = 1024
FOLLOWED = {"PYTHONPATH", "PYTHONUNBUFFERED", "PYTHON_KEYRING_BACKEND"}
"""Variables of the interpreter's that a forked one follows; others decide something when an interpreter starts."""


class Forged:
    """One run; what the tests use of a Popen."""

    def __init__(self, told: IO[bytes], stdout: IO[bytes] | None, stderr: IO[bytes] | None) -> None:
        self._told, self.stdout, self.stderr = told, stdout, stderr
        self.pid = int(told.readline())
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """How it ended, as Popen says it; TimeoutExpired when it has not."""
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            with self._told:
                self.returncode = int(self._told.readline())
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Signal it, unless it has ended."""
        if self.returncode is None and not select.select([self._told], [], [], 0)[0]:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)


class Forge:
    """The side of the tests. An entry is the MODULE:FUNCTION that a run calls, without arguments."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self._socket = ours
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-u", "-m", "tests.forge", str(theirs.fileno())],
            cwd=ROOT,
            env={"PATH": os.defpath},
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        atexit.register(self.close)

    def start(self, entry: str, arguments: Sequence[str], *, env: Mapping[str, str], cwd: Path) -> Forged:
        """Begin a run without input, whose output is read from its pipes; arguments: with the program's name."""
        out, err = os.pipe(), os.pipe()
        with Path(os.devnull).open("rb") as nothing:
            told = self._begin(entry, arguments, env, cwd, (nothing.fileno(), out[1], err[1]))
        for _, theirs in (out, err):
            os.close(theirs)
        return Forged(told, os.fdopen(out[0], "rb"), os.fdopen(err[0], "rb"))

    def run(
        self, entry: str, arguments: Sequence[str], *, env: Mapping[str, str], cwd: Path, given: bytes, timeout: float
    ) -> tuple[int, bytes, bytes]:
        """Run it to its end: code, stdout, stderr."""
        with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            stdin.write(given)
            stdin.seek(0)
            told = self._begin(entry, arguments, env, cwd, [one.fileno() for one in (stdin, out, err)])
            code = Forged(told, None, None).wait(timeout)
            out.seek(0)
            err.seek(0)
            return code, out.read(), err.read()

    def _begin(
        self, entry: str, arguments: Sequence[str], env: Mapping[str, str], cwd: Path, streams: Sequence[int]
    ) -> IO[bytes]:
        """Have it forked with these streams; what comes back tells its process id and, later, how it ended."""
        told, tells = os.pipe()
        said = json.dumps([entry, list(arguments), dict(env), str(cwd)]).encode()
        with self._lock:
            socket.send_fds(self._socket, [said], [tells, *streams])
            self._socket.recv(1)
        os.close(tells)
        return os.fdopen(told, "rb", 0)

    def close(self) -> None:
        """End it; runs go on."""
        self._socket.close()
        self._process.wait(10)


@cache
def the_forge() -> Forge:
    """The one of this process."""
    return Forge()


def may_fork(environ: Mapping[str, str]) -> bool:
    """Whether a forked run is as good as one of an interpreter's own."""
    return all(name in FOLLOWED for name in environ if name.startswith("PYTHON"))


def imported() -> list[str]:
    """What each run would import: commands and addons, but for what is made when it is loaded (addons/pool.py)."""
    from flowpool.main import COMMANDS  # noqa: PLC0415  # the tests' side needs none of it

    return [
        *{command.partition(":")[0] for command in COMMANDS.values()},
        *(f"addons.{path.stem}" for path in (ROOT / "addons").glob("*.py") if path.stem != "pool"),
        "credentials.backends",
        "flowpool.alone",
        "flowpool.bound",
        "flowpool.views.status",
        "home.state.lifting",
        "home.state.reader",
        "home.state.state",
        "mitmproxy.tools.dump",
        "mitmproxy.tools.main",
        "mitmproxy.tools.web.master",
        "providers.known",
        "scipy.optimize",
        "sqlalchemy.dialects.sqlite",
        "tests.e2e.entry",
    ]


def serve(connection: socket.socket) -> None:
    """Fork for each run, and tell how those end that did, until the tests have gone."""
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # what is ignored wakes nobody
    tells: dict[int, int] = {}
    while True:
        ready = select.select([connection.fileno(), woken], [], [])[0]
        if woken in ready:
            os.read(woken, LARGEST)
            _tell(tells)
        if connection.fileno() not in ready:
            continue
        said, files, _, _ = socket.recv_fds(connection, LARGEST, 1 + STREAMS)
        if not said:
            return
        child = os.fork()
        if child == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _become(json.loads(said), files[1:])
        tells[child], *streams = files
        for stream in streams:
            os.close(stream)
        os.write(tells[child], f"{child}\n".encode())
        connection.send(b"+")


def _tell(tells: dict[int, int]) -> None:
    """Tell of each run that ended how it did."""
    while tells and (ended := os.waitpid(-1, os.WNOHANG))[0]:
        child, status = ended
        with os.fdopen(tells.pop(child), "wb", 0) as to, suppress(BrokenPipeError):
            to.write(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _become(said: tuple[str, list[str], dict[str, str], str], streams: Sequence[int]) -> None:
    entry, arguments, environ, folder = said
    code: object = 1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.closerange(STREAMS, MOST_FILES)  # those of other runs, too
        os.environ.clear()
        os.environ.update(environ)
        time.tzset()
        sys.path[:0] = environ["PYTHONPATH"].split(os.pathsep) if "PYTHONPATH" in environ else []
        with suppress(ModuleNotFoundError):
            importlib.import_module("sitecustomize")  # as the interpreter would
        os.chdir(folder)
        random.seed()
        sys.argv, sys.orig_argv = arguments, [sys.executable, *arguments]
        module, function = entry.split(":")
        code = getattr(importlib.import_module(module), function)()
    except SystemExit as ended:
        code = ended.code
    except BaseException:  # noqa: BLE001  # as the interpreter would
        traceback.print_exc()
    try:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        if isinstance(code, str):
            os.write(2, f"{code}\n".encode())
            code = 1
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)


if __name__ == "__main__":
    for name in imported():
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    serve(socket.socket(fileno=int(sys.argv[1])))
