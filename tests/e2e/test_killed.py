"""kill -9 at random moments under load: what was known a second before outlives it, and nothing that was proved wrong comes back.

FLOWPOOL_SEED repeats the random draws of a run that failed (the moments are those, the threads' order is not).
"""

from __future__ import annotations

import http.client
import json
import math
import os
import random
import subprocess
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest

from home.state.ledger import FIELDS
from tests import command
from tests.e2e.client import Client
from tests.e2e.conftest import Make
from tests.e2e.harness import Program
from tests.e2e.pool import Pool, ranked
from tests.e2e.witness import Book, Key
from tests.thorough import amount
from tests.upstream import Answer, Received, Window, bad_token, forbidden, limit, ok, ok_json, unified

KILLS = amount(2, 50)
MORE = 5  # kills, where the load of those was too short to show anything of what is SHOWN
SHOWN = ("held", "lifted", "used", "stick", "line")
SEED = int(os.environ.get("FLOWPOOL_SEED") or uuid.uuid4().int % 1_000_000)
CLIENTS = 6
SURE = 1.0  # seconds after which what a client saw must outlive a kill
OPUS, SONNET = "claude-opus-5-5", "claude-sonnet-5"
FLIPS, SPENT = ("flip1", "flip2", "flip3"), ("spent1", "spent2")
SCOPES = [  # account, scope and row of the holds that this load can set
    *((name, "opus", "12") for name in FLIPS),
    *((name, "account", "13") for name in SPENT),
    ("dead", "account", "18"),
    ("odd", "opus", "19"),
]
ENDED = {"complete", "cut", "client_left", "refused", "passed"}


@dataclass(slots=True)
class World:
    """The upstream's part: refuses at random, tells windows that only fill, and notes what it told.

    flip…: refuse opus now and then, and say with sonnet's answers that opus has room, which lifts that hold. spent…: refuse
    until the operator lifts them, and then again. dead: its login is refused. odd: may not serve opus. open: always serves.
    """

    book: Book
    random: random.Random
    is_calm: bool = False
    resets_at: float = field(default_factory=lambda: time.time() + 9_000)
    counts: Counter[str] = field(default_factory=Counter)
    quiet: dict[str, float] = field(default_factory=dict)

    def turn_over(self) -> None:
        """Let about half of the accounts stop refusing within a second from now, so that what lifts their holds is the last word."""
        names = [name for name in (*FLIPS, *SPENT) if self.random.random() < 0.6]
        self.quiet = {name: time.monotonic() + self.random.random() for name in names}

    def answer(self, received: Received) -> Answer:
        """Answer one request of a conversation; runs on the upstream's own thread."""
        asked, name = received.json(), received.account
        session, model = received.header("x-claude-code-session-id") or "", asked["model"]
        refused = None if self.is_calm else self._refusal(name, session, is_opus=model == OPUS)
        if refused is not None:
            return refused
        told = self._windows(name, session)
        if name in FLIPS:
            self.book.tell(session, "lift", (name, "opus", "12"))
            told = (*told, Window(key="7d_opus", used=0.5, resets_in=7_200))
        self.book.tell(session, "stick", (session, model), name)
        build = ok if asked.get("stream") else ok_json
        return build(f"This is {name} speaking.", model=model, headers=unified(*told, resets_in=200_000))

    def _refusal(self, name: str, session: str, *, is_opus: bool) -> Answer | None:
        if time.monotonic() > self.quiet.get(name, math.inf):
            return None
        if name in FLIPS and is_opus and self.random.random() < 0.5:
            self.book.tell(session, "hold", (name, "opus", "12"))
            windows = [pair for window in self._windows(name, session) for pair in window.headers()]
            return limit("7d_opus", resets_in=7_200).having(*windows)
        if name in SPENT:
            self.book.tell(session, "hold", (name, "account", "13"))
            return limit("5h", resets_in=7_200)
        if name == "dead":
            self.book.tell(session, "hold", (name, "account", "18"))
            return bad_token()
        if name == "odd" and is_opus:
            self.book.tell(session, "hold", (name, "opus", "19"))
            return forbidden()
        return None

    def _windows(self, name: str, session: str) -> tuple[Window, ...]:
        self.counts[name] += 1
        used = self.counts[name] / 100_000
        if name not in SPENT:  # their refusals say 100 %
            self.book.tell(session, "used", (name,), used)
        week = Window(key="7d", used=round(self.random.uniform(0.2, 0.6), 3), resets_in=200_000)
        return (Window(key="5h", used=used, resets_in=self.resets_at - time.time()), week)


@dataclass(slots=True)
class Load:
    """Threads that ask until the proxy is gone; faults: what no kill explains."""

    pool: Pool
    book: Book
    seed: str
    killed: threading.Event = field(default_factory=threading.Event)
    threads: list[threading.Thread] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    ended: list[tuple[float, bool]] = field(default_factory=list)
    by: float = 0.0

    def start(self) -> None:
        """Begin to ask."""
        works: list[Callable[[random.Random], None]] = [*[self._converse] * CLIENTS, self._operate]
        for number, work in enumerate(works):
            draw = random.Random(f"{self.seed} {number}")  # noqa: S311  # repeatable
            self.threads.append(threading.Thread(target=self._run, args=(work, draw), daemon=True))
        for thread in self.threads:
            thread.start()

    def kill(self) -> None:
        """Kill the proxy and end the threads; what was seen up to `by` must outlive it."""
        self.killed.set()
        self.by = time.monotonic() - SURE
        self.pool.proxy.kill()
        for thread in self.threads:
            thread.join(20)
            assert not thread.is_alive(), "a client hangs on a proxy that is gone"
        self.book.forget_since(self.by)

    def _run(self, work: Callable[[random.Random], None], draw: random.Random) -> None:
        try:
            work(draw)
        except Exception as error:  # noqa: BLE001  # a thread's fault must reach the test
            if not self.killed.is_set():
                self.faults.append(f"{type(error).__name__}: {error}")

    def _converse(self, draw: random.Random) -> None:
        session = ""
        with self.pool.client() as client:
            while not self.killed.wait(draw.uniform(0, 0.04)):
                if not session or draw.random() < 0.2:
                    session = str(uuid.UUID(int=draw.getrandbits(128)))
                self.ask(client, session, draw.choice((OPUS, SONNET)), stream=draw.random() < 0.8)

    def ask(self, client: Client, session: str, model: str, *, stream: bool = True) -> str:
        """One turn, noted; the name of the account that served it."""
        self.book.begin(session)
        is_seen = False
        try:
            reply = client.ask(self.pool.turn(session=session, model=model, stream=stream))
            is_seen = reply.status == 200 and reply.end == "whole" and (not stream or b"message_stop" in reply.body)
        finally:
            self.book.end(session, is_seen=is_seen)
            self.ended.append((time.monotonic(), is_seen))
        assert is_seen, f"{reply.status} {reply.end} {reply.body[-300:]!r}"
        return reply.text.removeprefix("This is ").removesuffix(" speaking.")

    def _operate(self, draw: random.Random) -> None:
        """Lift holds and change a rank, as the command line does."""
        while not self.killed.wait(draw.uniform(0.1, 0.3)):
            self.book.begin("operator")
            is_done = False
            try:
                is_done = self._lift(draw.choice(SPENT)) if draw.random() < 0.8 else self._rank(draw.randint(2, 9))
            finally:
                self.book.end("operator", is_seen=is_done)

    def _lift(self, name: str) -> bool:
        proxy = self.pool.proxy
        self.book.tell("operator", "lift", (name, "account", "13"))
        key = (proxy.home / "control.key").read_text(encoding="utf-8").strip()
        connection = http.client.HTTPConnection(urlsplit(proxy.url).netloc, timeout=10)
        try:
            body = json.dumps({"accounts": [proxy.members[name].id]})
            connection.request("POST", "/_flowpool/lift", body, {"x-flowpool-key": key})
            answer = connection.getresponse()
            said = answer.read()
            assert answer.status == 200, said
            return True
        finally:
            connection.close()

    def _rank(self, rank: int) -> bool:
        self.book.tell("operator", "rank", ("open",), rank)
        done = run(self.pool, "rank", "open", str(rank))
        assert done.returncode == 0, done.stderr
        return True


def run(pool: Pool, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run `flowpool ARGUMENTS` in the pool's home."""
    return command.run(arguments, pool.proxy.env())


@pytest.mark.timeout(60 + 15 * (KILLS + MORE))
def test_kills_at_random_moments_lose_nothing_that_was_known(make: Make) -> None:
    """After each kill in the same folder: holds, lifts, sticks, ranks, readings and the ledger are those of a second before."""
    try:
        checked = _run(make)
    except BaseException as error:
        error.add_note(f"repeat with: FLOWPOOL_SEED={SEED}")
        raise
    print(f"\nkills: {KILLS} seed: {SEED} checked: {dict(sorted(checked.items()))}")  # noqa: T201  # figures of the soak
    for what in SHOWN:
        assert checked[what], f"the load was too short to show anything of: {what}; seed {SEED}"


def _run(make: Make) -> Counter[str]:
    draw = random.Random(SEED)  # noqa: S311  # repeatable
    members = ranked(*(name for name, _, _ in SCOPES), "open")
    members = tuple(type(one)(name=one.name, secret=one.secret, rank=1 if one.name != "open" else 2) for one in members)
    pool = make(members=members, program="flowpool serve")
    book, checked = Book(), Counter[str]()
    world = World(book, random.Random(draw.random()))  # noqa: S311  # repeatable
    for member in members:
        pool.upstream.default(member.name, world.answer)
    loads: list[Load] = []
    number = -1
    while (number := number + 1) < KILLS or (number < KILLS + MORE and not all(checked[what] for what in SHOWN)):
        moment = draw.uniform(1.6, 2.4) if number == 0 else draw.uniform(0.05, 2.4)
        load = Load(pool, book, f"{SEED} {number}")
        loads.append(load)
        world.turn_over()
        load.start()
        time.sleep(moment)  # the moment itself
        load.kill()
        assert not load.faults, load.faults
        programs: tuple[Program, ...] = ("flowpool serve", "flowpool serve", "mitmdump")
        pool.proxy.program = programs[number % 3]
        pool.proxy.mark()
        pool.proxy.start()
        checked += _check(pool, book, load.by)
        checked += _check_ledger(pool, loads)
        world.is_calm = True
        checked += _check_sticks(pool, load)
        world.is_calm = False
    return checked


def _check(pool: Pool, book: Book, by: float) -> Counter[str]:
    """What the status shows: accounts, holds, readings."""
    checked = Counter[str]()
    accounts = {account["name"]: account for account in pool.proxy.status()["accounts"]}
    assert accounts.keys() == pool.proxy.members.keys()
    assert all(account["enabled"] for account in accounts.values())
    ranks = book.allowed("rank", ("open",), by)
    if ranks:
        assert accounts["open"]["rank"] in ranks
        checked["rank"] += 1
    scope: Key
    for scope in SCOPES:
        must = book.is_held(scope, by)
        found = any((hold["scope"], str(hold["row"])) == scope[1:] for hold in accounts[scope[0]]["holds"])
        assert must in (None, found), (
            f"{scope}: held {found}, but {book.of('hold', scope)[-3:]} {book.of('lift', scope)[-3:]}"
        )
        book.found("hold" if found else "lift", scope)
        checked["either" if must is None else "held" if must else "lifted"] += 1
    for key in book.keys("used"):
        notes = book.of("used", key)
        least = max((note.value for note in notes if note.seen <= by), default=None, key=_number)
        windows = {window["key"]: window for window in accounts[key[0]]["windows"]}
        if least is not None:
            shown = windows["5h"]["used"]
            assert _number(least) <= shown <= max(_number(note.value) for note in notes), (key, least, windows)
            assert windows["5h"]["source"] == "restored"
            book.found("used", key, shown)
            checked["used"] += 1
    return checked


def _check_ledger(pool: Pool, loads: list[Load]) -> Counter[str]:
    """Every line is whole, none is there twice, and what was seen a second ago is among them."""
    shown = run(pool, "requests", "--json", "-n", "100000")
    assert shown.returncode == 0, shown.stderr
    lines: list[dict[str, Any]] = [json.loads(line) for line in shown.stdout.decode().splitlines()]
    assert all(tuple(line) == FIELDS and line["ended"] in ENDED for line in lines)
    assert len({line["id"] for line in lines}) == len(lines)
    complete = sum(line["ended"] == "complete" for line in lines)
    known = sum(at <= load.by and is_seen for load in loads for at, is_seen in load.ended)
    assert known <= complete, f"{complete} complete requests in the ledger, {known} were seen"
    assert len(lines) <= sum(len(load.ended) for load in loads), "more requests than were asked"
    return Counter(line=known)


def _check_sticks(pool: Pool, load: Load) -> Counter[str]:
    """The latest conversations go on where they were served, unless a hold is in the way."""
    checked = Counter[str]()
    free = {one["name"] for one in pool.proxy.status()["accounts"] if not one["holds"]}
    known = [
        (key, accounts) for key in load.book.keys("stick") if (accounts := load.book.allowed("stick", key, load.by))
    ]
    with pool.client() as client:
        for (session, model), accounts in known[-12:]:
            if accounts <= free:
                served = load.ask(client, session, model)
                assert served in accounts, f"{session} {model}: served by {served}, before by {accounts}"
                checked["stick"] += 1
    return checked


def _number(value: object) -> float:
    assert isinstance(value, float)
    return value
