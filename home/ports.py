"""Ports: a taken one is said before anything starts, with the name of who has it."""

import contextlib
import errno
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

from home.checks import Address

_LISTENING = "0A"
_UNFIT = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT) + (
    () if sys.platform == "win32" else (errno.EACCES,)
)  # there it says taken
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")


def unfit(listen: Address) -> str:
    """Return why this machine cannot listen there, whoever else does; empty when it can, or when the port is taken."""
    with socket.socket(_family(listen)) as probe:
        try:
            probe.bind((listen.host, listen.port))
        except OSError as error:
            return error.strerror if error.errno in _UNFIT and error.strerror else ""
    return ""


def is_taken(listen: Address) -> bool:
    """Whether somebody else listens where we would; port 0 never is."""
    if listen.port == 0:
        return False
    with socket.socket(_family(listen)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((listen.host, listen.port))
        except OSError:
            return True
    try:  # some systems let two bind when one of them took all addresses
        socket.create_connection((listen.host, listen.port), timeout=0.5).close()
    except OSError:
        return False
    return True


def _family(listen: Address) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in listen.host else socket.AF_INET


def owner(port: int) -> str:
    """Who listens on the port, as far as this system tells: "python (pid 4711)", else "another program"."""
    found = holder(port)
    return f"{found[0]} (pid {found[1]})" if found else "another program"


def holder(port: int) -> tuple[str, int] | None:
    """Return the name and the process id of who listens on the port; None where this system does not tell."""
    sockets = {f"socket:[{inode}]" for inode in _inodes(port)}
    for process in Path("/proc").glob("[0-9]*") if sockets else ():
        if sockets.intersection(_open_files(process)):
            with contextlib.suppress(OSError):
                return (process / "comm").read_text().strip(), int(process.name)
    return None


def _open_files(process: Path) -> Iterator[str]:
    """What a process has open; nothing of one that has ended or is another user's."""
    with contextlib.suppress(OSError):
        for file in (process / "fd").iterdir():
            with contextlib.suppress(OSError):
                yield str(file.readlink())


def _inodes(port: int) -> Iterator[str]:
    for table in _TABLES:
        try:
            lines = Path(table).read_text().splitlines()[1:]
        except OSError:
            continue
        for fields in map(str.split, lines):
            if fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                yield fields[9]
