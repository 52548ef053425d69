"""A process with the command line already imported, which forks for each command: most of a command's time is its imports.

Run as a program it answers on the socket whose descriptor is its argument. What is forked sees its own arguments, environment, folder
and standard streams, and ends as `python -m flowpool` does.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
IMPORTED = (
    "flowpool.main",
    "flowpool.accounts",
    "flowpool.add",
    "flowpool.alone",
    "flowpool.change",
    "flowpool.remove",
    "flowpool.status",
    "flowpool.views.status",
    "home.state.lifting",
    "home.state.reader",
    "providers.anthropic",
)
LARGEST = 2**16  # bytes of one command


class Forge:
    """The side of the tests; one command at a time."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self._socket = ours
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.flowpool.forge", str(theirs.fileno())],
            cwd=ROOT,
            env={"PATH": os.defpath},
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        atexit.register(self.close)

    def run(
        self, arguments: Sequence[str], environ: Mapping[str, str], given: bytes, timeout: float
    ) -> tuple[int, bytes, bytes] | None:
        """Run one command; None while another thread's runs."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
                stdin.write(given)
                stdin.seek(0)
                said = json.dumps([list(arguments), dict(environ)]).encode()
                self._socket.settimeout(timeout)
                socket.send_fds(self._socket, [said], [stdin.fileno(), out.fileno(), err.fileno()])
                code = int(self._socket.recv(64))
                out.seek(0)
                err.seek(0)
                return code, out.read(), err.read()
        finally:
            self._lock.release()

    def close(self) -> None:
        """End it."""
        self._socket.close()
        self._process.wait(10)


def serve(connection: socket.socket) -> None:
    """Fork for each command until the tests have gone."""
    while True:
        said, files, _, _ = socket.recv_fds(connection, LARGEST, 3)
        if not said:
            return
        child = os.fork()
        if child == 0:
            connection.close()
            _become(json.loads(said), files)
        for file in files:
            os.close(file)
        connection.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())


def _become(said: tuple[list[str], dict[str, str]], files: Sequence[int]) -> None:
    arguments, environ = said
    code: object = 1
    try:
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        os.environ.clear()
        os.environ.update(environ)
        sys.argv = ["flowpool", *arguments]
        importlib.import_module("flowpool.main").main()
    except SystemExit as ended:
        code = ended.code
    except BaseException:  # noqa: BLE001  # as the interpreter would
        traceback.print_exc()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)


if __name__ == "__main__":
    for name in IMPORTED:
        importlib.import_module(name)
    serve(socket.socket(fileno=int(sys.argv[1])))
