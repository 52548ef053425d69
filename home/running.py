"""running.json: which proxy runs and where it listens."""

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from credentials import files
from credentials.errors import FileFault
from home import processes
from home.checks import Address

CHANGED = "changed since the proxy took it up; run: flowpool restart"


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """One proxy that accepts requests.

    pid: of the process that listens. listen: the real addresses by kind of client ("claude"), no port 0.
    started: aware UTC. config: digest() of config.toml as it was taken up; empty when not known.
    born: as home.processes.born tells of it; empty when not known.
    ca: the file of the certificate that clients who come by HTTPS_PROXY are to trust; empty when none may come.
    """

    pid: int
    listen: Mapping[str, Address]
    started: datetime
    config: str = ""
    born: str = ""
    ca: str = ""


def digest(path: Path) -> str:
    """Tell one content of a file from another; empty when it cannot be read, also when it is not there."""
    try:
        data = files.read(path, private=False)
    except FileFault:
        return ""
    return "" if data is None else hashlib.blake2b(data, digest_size=16).hexdigest()


def is_changed(running: Running, path: Path) -> bool:
    """Tell whether config.toml is not what the proxy took up."""
    return bool(running.config) and digest(path) != running.config


def write(path: Path, running: Running) -> None:
    """Say that a proxy runs, once it accepts; raise FileFault."""
    listen = {name: str(address) for name, address in running.listen.items()}
    document = {
        "pid": running.pid,
        "listen": listen,
        "started": running.started.isoformat(),
        "config": running.config,
        "born": running.born,
        "ca": running.ca,
    }
    files.write(path, json.dumps(document).encode())


def read(path: Path) -> Running | None:
    """Return the proxy that runs; None when there is no file, it makes no sense, or its process is gone.

    Where it is not known when the process was born, the pid may by now belong to another program: ask the address before trusting it.
    """
    running = _read(path)
    return running if running and is_there(running) else None


def left(path: Path) -> Running | None:
    """Return what the file says, also of a process that is gone; None when there is none or it makes no sense."""
    return _read(path)


def is_there(running: Running) -> bool:
    """Tell whether its process lives, and is not another one of the same id."""
    return processes.born(running.pid) == running.born if running.born else is_alive(running.pid)


def remove(path: Path, pid: int) -> None:
    """Forget the proxy with this pid; another one's file stays, and so does one that cannot be removed."""
    running = _read(path)
    if running and running.pid == pid:
        with suppress(OSError):  # who reads it finds that its process is gone
            path.unlink()


def _read(path: Path) -> Running | None:
    try:
        data = files.read(path, private=False)
        return _parse(json.loads(data)) if data else None
    except (FileFault, ValueError, RecursionError):
        return None


def _parse(document: object) -> Running:
    config = born = ca = ""
    match document:
        case {"pid": int(pid), "listen": dict(listen), "started": str(started), **more} if pid > 1 and listen:
            addresses = {str(name): Address.parse(str(address)) for name, address in listen.items()}
            moment, config = datetime.fromisoformat(started), str(more.get("config", ""))
            born, ca = str(more.get("born", "")), str(more.get("ca", ""))
        case _:
            raise ValueError("not a running proxy")
    if moment.tzinfo is None:
        raise ValueError("a time without its zone")
    return Running(pid=pid, listen=addresses, started=moment, config=config, born=born, ca=ca)


if sys.platform == "win32":

    def is_alive(pid: int) -> bool:
        """Tell whether a process with this id exists; os.kill would end it here."""
        import ctypes  # noqa: PLC0415

        query_limited, still_active = 0x1000, 259
        handle = ctypes.windll.kernel32.OpenProcess(query_limited, False, pid & 0xFFFFFFFF)
        if not handle:
            return False
        code = ctypes.c_ulong()
        ctypes.windll.kernel32.GetExitCodeProcess(handle, ctypes.byref(code))
        ctypes.windll.kernel32.CloseHandle(handle)
        return code.value == still_active

else:

    def is_alive(pid: int) -> bool:
        """Tell whether a process with this id exists."""
        try:
            os.kill(pid, 0)
        except PermissionError:
            return True
        except (ProcessLookupError, OverflowError):
            return False
        return True
