"""A thousand starts and stops leave no process, socket, lock or temporary file.

FLOWPOOL_CYCLES sets how many. Run by `make soak`, never by `make test`.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.client import Client
from tests.e2e.harness import Member
from tests.e2e.living import Living
from tests.e2e.pool import token
from tests.upstream import Upstream, plant
from tests.upstream.asks import turn

CYCLES = int(os.environ.get("FLOWPOOL_CYCLES", "1000"))
ASKED = 10  # in each of so many cycles a request is served
COUNTED = 100  # processes are counted after each so many

pytestmark = [pytest.mark.soak, pytest.mark.timeout(CYCLES * 5 + 120)]


def test_starts_and_stops_leave_nothing(tmp_path: Path) -> None:
    """However it is ended: by the command, by a signal, by two, or by kill -9."""
    client, temporary = plant("client"), tmp_path / "tmp"
    temporary.mkdir()
    member = Member(name="work", secret=plant("work"))
    with Upstream({"work": token(member), "client": client}, keep_bodies=False) as upstream:
        proxy = Living(tmp_path, upstream, [member])
        proxy.extra_env["TMPDIR"] = str(temporary)
        endings: tuple[Callable[[], object], ...] = (
            proxy.end,
            lambda: os.kill(proxy.pid, signal.SIGTERM),
            lambda: os.kill(proxy.pid, signal.SIGINT),
            lambda: _twice(proxy.pid),
            lambda: os.kill(proxy.pid, signal.SIGKILL),
        )
        begun, known = time.monotonic(), set[str]()
        for cycle in range(CYCLES):
            proxy.start()
            if cycle % ASKED == 0:
                with Client(proxy.url) as asking:
                    assert asking.ask(turn(client)).status == 200
            end = cycle % len(endings) if cycle >= len(endings) else 0
            endings[end]()
            assert proxy._process is not None
            code = proxy._process.wait(20)
            assert code == (-signal.SIGKILL if endings[end] is endings[-1] else 0), proxy.log_text()[-2000:]
            proxy._output.join()
            with pytest.raises(ConnectionRefusedError), Client(proxy.url) as asking:
                asking.ask(turn(client))
            known = known or _files(proxy.home)
            if endings[end] is not endings[-1]:
                assert _files(proxy.home) == known
            assert not list(temporary.iterdir())
            if cycle % COUNTED == COUNTED - 1:
                assert _processes(proxy.home) == []
                print(f"{cycle + 1} cycles in {time.monotonic() - begun:.0f} s")  # noqa: T201  # make soak shows it
            proxy._output.mark()
        assert _processes(proxy.home) == []
        proxy._process = None
        proxy.check()


def _twice(pid: int) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        os.kill(pid, number)


def _files(home: Path) -> set[str]:
    """What lies in the home."""
    return {str(path.relative_to(home)) for path in home.rglob("*")}


def _processes(home: Path) -> list[str]:
    """Whoever still lives with this home in its environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"FLOWPOOL_HOME={home}".encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_text())
        except OSError:
            continue
    return found
