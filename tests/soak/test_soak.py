"""The soak: fifty clients, random refusals, cuts, aborts and slow readers; nothing leaks, and the counters add up.

FLOWPOOL_SOAK_S sets how long (600 s), FLOWPOOL_SEED repeats the random draws. Run by `make soak`, never by `make test`.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
import urllib.request
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import pytest

from home.state import reader
from tests.e2e.harness import PATIENCE, ROOT, Member, Proxy
from tests.e2e.pool import token
from tests.soak.client import Client, Outcomes
from tests.soak.upstream import COUNTS, STEADY
from tests.upstream import plant

SECONDS = float(os.environ.get("FLOWPOOL_SOAK_S", "600"))
SEED = int(os.environ.get("FLOWPOOL_SEED") or uuid.uuid4().int % 1_000_000)
CLIENTS = 50
EVERY = 10.0  # seconds between two lines of summary
GROWTH = 1.05  # of resident memory over the second half
HIDDEN_ROWS = {9, 12, 13, 18, 19, 20}  # refusals that no client sees while an account has room
UNSEEN_ROWS = {1, 2}  # no connection, or one that was gone: the upstream may have seen nothing
ENOUGH = 60.0  # seconds in which every refusal is drawn
SHORT = {  # so that what is held comes back many times in a soak
    "hold": {"throttle_s": 1, "forbidden_s": 1, "auth_s": 1, "auth_max_s": 1, "credits_s": 1, "balance_s": 1},
    "wait": {"max": 5, "margin_s": 1},
}

pytestmark = [pytest.mark.soak, pytest.mark.timeout(int(SECONDS) + 240)]


@dataclass(slots=True)
class Vitals:
    """What the kernel, and the proxy itself, say of its process."""

    proxy: Proxy
    probe: Path
    resident: list[tuple[float, float]] = field(default_factory=list)

    def rss(self) -> float:
        """Resident memory in MiB."""
        text = Path(f"/proc/{self.proxy.pid}/status").read_text(encoding="utf-8")
        return int(next(line for line in text.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024

    def files(self) -> Counter[str]:
        """Open descriptors by what they are; sockets count as one kind."""
        found: Counter[str] = Counter()
        for entry in Path(f"/proc/{self.proxy.pid}/fd").iterdir():
            try:
                found[str(entry.readlink()).partition(":[")[0]] += 1
            except FileNotFoundError:
                continue
        return found

    def threads(self) -> int:
        """How many threads it has."""
        return len(list(Path(f"/proc/{self.proxy.pid}/task").iterdir()))

    def alive(self) -> dict[str, Any]:
        """Its tasks by name, and its flows; see probe/sitecustomize.py."""
        self.probe.unlink(missing_ok=True)
        os.kill(self.proxy.pid, signal.SIGUSR1)
        until(self.probe.exists, "the proxy told of its tasks")
        told: dict[str, Any] = json.loads(self.probe.read_text(encoding="utf-8"))
        return told


def until(claim: Callable[[], bool], what: str) -> None:
    """Return as soon as the claim is true; fails when that does not come about."""
    end = time.monotonic() + PATIENCE
    while not claim():
        assert time.monotonic() < end, f"not within {PATIENCE} s: {what}"
        time.sleep(0.05)  # between two looks at what only /proc and a file can tell


@contextmanager
def open_upstream(members: list[Member]) -> Iterator[str]:
    """Run the fake as a process; it ends with its standard input."""
    accounts = [arg for member in members for arg in ("--account", f"{member.name}={token(member)}")]
    command = [sys.executable, "-m", "tests.soak.upstream", "--seed", str(SEED), *accounts]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield process.stdout.readline().decode().strip()
        assert process.poll() is None, "the fake upstream ended by itself"
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, "the fake upstream met a fault of its own"


def counts(url: str) -> dict[str, Any]:
    """What the fake answered so far."""
    with urllib.request.urlopen(url + COUNTS, timeout=PATIENCE) as answer:  # noqa: S310  # our own loopback address
        told: dict[str, Any] = json.load(answer)
    return told


def test_a_long_busy_time_leaks_nothing(tmp_path: Path) -> None:
    """Leases, tasks, sockets, files and memory are as before; every request is accounted for; no needless refusal was seen."""
    members = [Member(name=f"a{number}", secret=plant(f"a{number}"), rank=1) for number in range(1, 8)]
    members.append(Member(name=STEADY, secret=plant(STEADY), rank=2))
    probe = tmp_path / "probe.json"
    env = {"PYTHONPATH": f"{ROOT / 'tests/soak/probe'}:{ROOT}", "SOAK_PROBE": str(probe)}
    say(f"soak: {SECONDS:.0f} s, {CLIENTS} clients, seed {SEED}")
    with open_upstream(members) as url:
        proxy = Proxy(tmp_path, url, members, settings=SHORT, program="flowpool serve", env=env)
        try:
            with proxy:
                _soak(proxy, url, probe)
        except BaseException as error:
            log = tmp_path / "proxy.log"
            log.write_text(proxy.log_text(), encoding="utf-8")
            error.__notes__ = [f"the proxy's log: {log}; repeat with: FLOWPOOL_SEED={SEED}"]
            raise


def _soak(proxy: Proxy, url: str, probe: Path) -> None:
    vitals, outcomes = Vitals(proxy, probe), Outcomes()
    asyncio.run(_load(vitals, outcomes, seconds=1.0))  # all that is opened once, is open
    _settle(proxy)
    until(lambda: "ServerInstance.handle_stream" not in vitals.alive()["tasks"], "the first clients are gone")
    before, threads, alive = vitals.files(), vitals.threads(), vitals.alive()
    vitals.resident.clear()
    asyncio.run(_load(vitals, outcomes, seconds=SECONDS))
    _settle(proxy)
    until(lambda: vitals.files() <= before, f"open files come back to {before}, not {vitals.files()}")
    until(lambda: vitals.alive()["tasks"] == alive["tasks"], f"tasks come back: {alive} {vitals.alive()}")
    told = counts(url)
    say(f"clients {dict(outcomes.counts)} statuses {dict(outcomes.statuses)}")
    after, threads_after, alive_after = vitals.files(), vitals.threads(), vitals.alive()
    growth = _growth(vitals.resident)
    proxy.stop()  # which writes the last of the ledger
    lines = reader.requests(proxy.home / "state.sqlite3", outcomes.counts["asked"] + 1_000)
    say(f"ledger {dict(Counter(line['ended'] for line in lines))} attempts {sum(len(line['tried']) for line in lines)}")
    say(f"upstream {told}")
    say(f"files {dict(before)} -> {dict(after)} threads {threads} -> {threads_after}")
    say(f"alive {alive} -> {alive_after}")
    say(f"memory {vitals.resident[0][1]:.1f} -> {vitals.resident[-1][1]:.1f} MiB, second half x {growth:.3f}")
    assert outcomes.faults == []
    assert outcomes.wrong == []
    _check_ledger(lines, outcomes, told)
    assert alive_after["flows"] <= alive["flows"]
    assert threads_after <= threads
    assert growth < GROWTH


async def _load(vitals: Vitals, outcomes: Outcomes, seconds: float) -> None:
    """All clients for so long, and a line of summary now and then."""
    begun = time.monotonic()
    address = urlsplit(vitals.proxy.url)
    draws = [random.Random(f"{SEED} {seconds} {number}") for number in range(CLIENTS)]  # noqa: S311  # repeatable
    client = plant("client")
    clients = [Client(address.hostname or "", address.port or 0, client, draw, outcomes) for draw in draws]
    watching = asyncio.create_task(_watch(vitals, outcomes, begun))
    try:
        await asyncio.gather(*(client.run(begun + seconds) for client in clients))
    finally:
        watching.cancel()


async def _watch(vitals: Vitals, outcomes: Outcomes, begun: float) -> None:
    told, last = begun, outcomes.counts["asked"]
    while True:
        await asyncio.sleep(1.0)  # between two looks at the memory
        now = time.monotonic()
        vitals.resident.append((now - begun, vitals.rss()))
        if now - told >= EVERY:
            asked = outcomes.counts["asked"]
            files = sum(vitals.files().values())
            rate = (asked - last) / (now - told)
            say(
                f"{now - begun:5.0f} s  {rate:4.0f}/s  {vitals.rss():.1f} MiB  {files} files  {vitals.threads()} threads  "
                f"{dict(sorted(outcomes.counts.items()))}  wrong {len(outcomes.wrong)}  faults {len(outcomes.faults)}"
            )
            told, last = now, asked


def _settle(proxy: Proxy) -> None:
    """Return once nothing is in flight."""
    until(lambda: not sum(account["in_flight"] for account in proxy.status()["accounts"]), "nothing is in flight")


def _check_ledger(lines: list[dict[str, Any]], outcomes: Outcomes, told: dict[str, Any]) -> None:
    """Clients, ledger and upstream tell the same story, give or take those who left."""
    seen, aborted = outcomes.counts, outcomes.counts["aborted"]
    assert seen["asked"] == seen["complete"] + seen["cut"] + seen["refused"] + aborted
    assert len({line["id"] for line in lines}) == len(lines)
    assert seen["asked"] - aborted <= len(lines) <= seen["asked"]
    ended = Counter(line["ended"] for line in lines)
    for end in ("complete", "cut", "refused"):
        assert seen[end] <= ended[end] <= seen[end] + aborted, (end, seen, ended)
    assert ended["client_left"] <= aborted
    tried = Counter(
        str(one["status"] or 0)
        for line in lines
        for one in line["tried"]
        if one["status"] or (line["ended"] != "client_left" and one["row"] not in UNSEEN_ROWS)
    )
    unseen = sum(one["row"] in UNSEEN_ROWS for line in lines for one in line["tried"])
    for status in tried.keys() | told["statuses"].keys():
        answered = told["statuses"].get(status, 0)
        assert tried[status] <= answered <= tried[status] + ended["client_left"] + unseen, (status, tried, told)
    hidden = [line for line in lines if _is_needless(line)]
    assert hidden == []
    rows = Counter(one["row"] for line in lines for one in line["tried"])
    say(f"rows met {dict(sorted(rows.items()))} accounts {dict(Counter(line['account'] for line in lines))}")
    assert rows.keys() >= HIDDEN_ROWS or SECONDS < ENOUGH


def _is_needless(line: dict[str, Any]) -> bool:
    """Whether a refusal reached the client although the steady account had room."""
    if line["ended"] == "client_left" or "haiku" in (line["model"] or ""):
        return False
    last = line["tried"][-1]["row"] if line["tried"] else None
    return last in HIDDEN_ROWS or line["answer"] in ("A", "B", "C")


def _growth(resident: list[tuple[float, float]]) -> float:
    """How much larger the last tenth is than the first tenth of the second half."""
    end = resident[-1][0]
    first = [size for at, size in resident if 0.5 <= at / end <= 0.6]
    last = [size for at, size in resident if at / end >= 0.9]
    return median(last) / median(first)


def say(line: str) -> None:
    """Print one line at once."""
    print(line, flush=True)  # noqa: T201  # the soak's summary
