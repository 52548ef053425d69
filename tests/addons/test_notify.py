"""systemd is told in plain datagrams how the service stands; nobody listening is no fault."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from addons.notify import Notify


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[socket.socket, str]]:
    """A service manager's socket, and its name as it is told."""
    name = str(tmp_path / "notify") if request.param == "path" else f"@flowpool-test-{tmp_path.name}-{id(tmp_path)}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(f"\0{name[1:]}" if name.startswith("@") else name)
        listener.settimeout(5)
        yield listener, name


def test_each_word_is_one_datagram(manager: tuple[socket.socket, str]) -> None:
    """Ready, handed over, stopping: by sockets of the file system and by abstract ones."""
    listener, name = manager
    environ = {"NOTIFY_SOCKET": name, "PATH": "/bin"}
    notify = Notify.take(environ)
    notify.ready()
    notify.handed_over(4711)
    notify.stopping("soon")

    words = [listener.recv(999).decode().splitlines() for _ in range(3)]
    assert [word[0] for word in words] == ["READY=1", "MAINPID=4711", "STOPPING=1"]
    assert "STATUS=soon" in words[2]
    assert environ == {"PATH": "/bin"}
    assert notify.told() == {"NOTIFY_SOCKET": name}


@pytest.mark.parametrize("name", ["", "/nowhere/at/all", "@nobody-listens-here", "vsock:1:2"])
def test_nobody_who_listens_is_no_fault(name: str) -> None:
    """Whoever started this proxy may not care."""
    notify = Notify(name)
    notify.ready()

    assert notify.told() == ({"NOTIFY_SOCKET": name} if name else {})
