"""The fake upstream of the soak, a process of its own: good turns, and at random all that an upstream does to its clients.

    python -m tests.soak.upstream --seed 1 --account a1=TOKEN … --account steady=TOKEN

Prints its URL and serves until its standard input closes. GET /_upstream/counts tells what it answered. The account "steady"
never refuses opus and sonnet; every account refuses haiku now and then, so that its requests come to wait.
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

from tests.upstream import (
    Answer,
    Received,
    Upstream,
    as_json,
    bad_token,
    bare,
    credits_required,
    drop,
    forbidden,
    healthy,
    limit,
    ok,
    ok_json,
    overage,
    overloaded,
    padded,
    payment_required,
    server_error,
    stream_error,
    throttle,
)
from tests.upstream.door import NOBODY
from tests.upstream.received import Log

COUNTS = "/_upstream/counts"
PAD = 50_000  # bytes of a large refusal
STEADY = "steady"
BIG = "big"  # a prompt that asks for a long answer
_HELD = 400  # requests whose fate is looked at later

type Draw = random.Random
type Build = Callable[[Draw, str], Answer]

REFUSALS: list[tuple[float, Build]] = [  # share of an ordinary account's answers
    (0.04, lambda draw, _: limit("5h", resets_in=draw.uniform(0.3, 1.5), unit="ms")),
    (0.02, lambda draw, _: limit("7d", resets_in=draw.uniform(0.3, 1.5), unit="ms")),
    (0.03, lambda draw, family: limit(f"7d_{family}", resets_in=draw.uniform(0.3, 1.5), unit="ms")),
    (0.02, lambda draw, _: throttle(draw.choice((None, 1)))),
    (0.01, lambda *_: throttle(30)),
    (0.02, lambda *_: bare()),
    (0.03, lambda *_: overloaded()),
    (0.02, lambda *_: server_error()),
    (0.02, lambda *_: bad_token()),
    (0.01, lambda *_: forbidden()),
    (0.01, lambda *_: payment_required()),
    (0.01, lambda *_: credits_required()),
]


class Tally(Log):
    """Counts what came instead of keeping it; the newest are kept until their fate is known."""

    def __init__(self) -> None:
        super().__init__()
        self.received = self.torn = 0
        self.fates: Counter[str] = Counter()
        self._open: deque[Received] = deque()

    def add(self, received: Received) -> None:
        """Count one request."""
        if received.path == COUNTS:
            return
        self.received += received.whole
        self.torn += not received.whole
        self._open.append(received)
        while len(self._open) > _HELD and self._open[0].fate.end is not None:
            self.fates[self._open.popleft().fate.end or ""] += 1

    def settled(self) -> Counter[str]:
        """How the answers ended."""
        return self.fates + Counter(str(one.fate.end) for one in self._open)


class Vendor:
    """Draws an answer to each request."""

    def __init__(self, seed: int, tally: Tally) -> None:
        self._draw = random.Random(seed)  # noqa: S311  # repeatable
        self._tally = tally
        self.statuses: Counter[str] = Counter()

    def answer(self, received: Received) -> Answer:
        """Answer one turn."""
        asked = received.json()
        family = next(one for one in ("opus", "sonnet", "haiku") if one in asked["model"])
        answer = self._refusal(received.account, family) or self._good(asked, received.account)
        self.statuses[str(answer.status if answer.framing != "raw" else 0)] += 1
        return answer

    def counts(self, _: Received) -> Answer:
        """Tell what was answered so far."""
        ends = self._tally.settled()
        document = {"received": self._tally.received, "torn": self._tally.torn, "ends": ends, "statuses": self.statuses}
        return as_json("counts", document)

    def _refusal(self, name: str, family: str) -> Answer | None:
        draw = self._draw
        if family == "haiku" and draw.random() < 0.3:
            return limit("7d_haiku", resets_in=draw.uniform(0.5, 1.5), unit="ms")
        if name == STEADY:
            return None
        lot = draw.random()
        for share, build in REFUSALS:
            lot -= share
            if lot < 0:
                refused = build(draw, family)
                return padded(refused, PAD) if draw.random() < 0.3 else refused
        return None

    def _good(self, asked: dict[str, Any], name: str) -> Answer:
        draw = self._draw
        headers = healthy(draw.uniform(0.1, 0.5), draw.uniform(0.1, 0.5))
        is_big = BIG in str(asked["messages"])
        text = " ".join(["x" * 4_000] * 60) if is_big else f"This is {name} speaking."
        if not asked.get("stream"):
            whole = ok_json(text, model=asked["model"], headers=headers)
            return overage(whole) if name != STEADY and draw.random() < 0.03 else whole
        turn = ok(text, model=asked["model"], headers=headers)
        lot = draw.random()
        if lot < 0.02:
            return turn.cut(draw.choice(("reset", "fin", "whole")), after="content_block_delta", torn=lot < 0.01)
        if lot < 0.03:
            return drop(draw.choice(("reset", "fin")))
        if lot < 0.04:
            return stream_error("overloaded_error", after="content_block_delta")
        if lot < 0.06 and name != STEADY:
            return overage(turn) if lot < 0.05 else stream_error("overloaded_error")
        return turn.gap(draw.uniform(0.001, 0.02)) if lot < 0.3 and not is_big else turn


def main() -> None:
    """Serve until standard input closes."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak.upstream")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--account", action="append", default=[], metavar="NAME=TOKEN")
    chosen = parser.parse_args()
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # it warns of every client that left
    accounts = dict(pair.split("=", 1) for pair in chosen.account)
    tally = Tally()
    vendor = Vendor(chosen.seed, tally)
    with Upstream(accounts) as upstream:
        upstream.requests = tally
        for name in accounts:
            upstream.default(name, vendor.answer)
        upstream.default(NOBODY, vendor.counts, path=COUNTS)
        print(upstream.url, flush=True)  # noqa: T201  # the one line it promises
        sys.stdin.read()
        if upstream.faults:
            sys.exit("\n".join(upstream.faults[:5]))


if __name__ == "__main__":
    main()
