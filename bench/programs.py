"""The programs that are measured, and the fake upstream: started in folders of their own, ended by their process."""

import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from bench.client import Address
from tests.e2e.harness import ROOT, Member, Program, Proxy
from tests.upstream import plant

PATIENCE = 30.0  # seconds for a start or an end on a busy machine
BARE, MITMDUMP, SERVE = "bare", "mitmdump", "serve"
PROGRAMS = (BARE, MITMDUMP, SERVE)
CRASHES = (b"has crashed", b"Traceback (most recent call last)", b"Addon error", b"Unhandled error")

_STARTS: dict[str, Program] = {BARE: "bare", MITMDUMP: "mitmdump", SERVE: "flowpool serve"}
_READY = re.compile(r"listening (?:on|at) (?:http://)?(127\.0\.0\.1):(\d+)")


@dataclass(frozen=True, slots=True)
class Running:
    """A program that accepts requests. The proxy describes its files; the process is ours."""

    name: str
    address: Address
    pid: int
    proxy: Proxy | None = None

    def resident(self) -> float:
        """Its resident memory, in MB (10^6 bytes)."""
        statm = Path(f"/proc/{self.pid}/statm")
        if statm.exists():
            return int(statm.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
        out = subprocess.run(["ps", "-o", "rss=", "-p", str(self.pid)], check=True, capture_output=True)  # noqa: S603, S607
        return int(out.stdout) * 1024 / 1e6


@contextmanager
def upstream(folder: Path) -> Iterator[Running]:
    """Run the fake upstream."""
    with _run("upstream", [sys.executable, "-m", "bench.upstream"], folder / "upstream", dict(os.environ)) as running:
        yield running


@contextmanager
def programs(folder: Path, behind: Running, names: Sequence[str] = PROGRAMS) -> Iterator[list[Running]]:
    """Run these programs side by side, each in a folder of its own with two accounts."""
    with ExitStack() as stack:
        yield [stack.enter_context(_program(name, folder / name, behind)) for name in names]


@contextmanager
def _program(name: str, folder: Path, behind: Running) -> Iterator[Running]:
    proxy = described(folder, behind, name)
    with _run(name, proxy.command(), folder, proxy.env(), proxy) as running:
        yield running


def described(folder: Path, behind: Running, name: str = SERVE) -> Proxy:
    """The files of a proxy with two accounts, written but not started; its settings are the defaults."""
    members = [Member(name=account, secret=plant(account)) for account in ("work", "home")]
    address = "http://{}:{}".format(*behind.address)
    proxy = Proxy(folder, address, members, fast=False, program=_STARTS[name])
    proxy.write()
    return proxy


@contextmanager
def _run(
    name: str, command: list[str], folder: Path, env: dict[str, str], proxy: Proxy | None = None
) -> Iterator[Running]:
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "log"
    cwd = ROOT if proxy is None else folder
    with log.open("wb") as out:
        process = subprocess.Popen(  # noqa: S603
            command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT
        )
    try:
        yield Running(name, _ready(process, log), process.pid, proxy)
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE)
        process.kill()
        process.wait()
    broken = [crash.decode() for crash in CRASHES if crash in log.read_bytes()]
    if broken:
        raise RuntimeError(f"{name}'s log shows {broken}: its figures are worth nothing")


def _ready(process: subprocess.Popen[bytes], log: Path) -> Address:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        found = _READY.search(log.read_text(encoding="utf-8", errors="replace"))
        if found:
            return cast(Address, (found[1], int(found[2])))
        time.sleep(0.05)
    raise RuntimeError(f"{command_of(process)} did not become ready:\n{log.read_text(errors='replace')}")


def command_of(process: subprocess.Popen[bytes]) -> str:
    """How it was started."""
    return " ".join(cast(list[str], process.args))
