"""Runs plays and bounds, on several processors at once; whatever ends the run ends its processes too."""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from multiprocessing.connection import wait
from typing import NamedTuple

from flowpool import workloads
from flowpool.bound import bound
from flowpool.errors import Failure
from flowpool.unwinding import ENDING
from flowpool.views.progress import watched
from flowpool.workload_file import convert
from routing.simulation.workload import Workload
from routing.simulator import Outcome, play


class Made(NamedTuple):
    """A workload that is made up where it is played."""

    kind: str
    seed: int


class Bound(NamedTuple):
    """The most units that can be served, None when there is nothing to find it with, and what was asked."""

    units: float | None
    asked: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """One play. strategy: None asks for the bound. accounts: which of them are there, by their places; None: all."""

    source: Made | Workload
    strategy: str | None
    wait: float = 0.0
    accounts: tuple[int, ...] | None = None


def run(plays: Sequence[Play], jobs: int) -> Generator[Outcome | Bound]:
    """Give what comes of each play, in their order, as soon as it is there; a terminal is told how far that is.

    jobs: how many are played at a time; 1 plays in this process. Raises Failure when a process is killed.
    """
    return watched(_run(plays, jobs), len(plays))


def _run(plays: Sequence[Play], jobs: int) -> Generator[Outcome | Bound]:
    if min(jobs, len(plays)) <= 1:
        yield from map(played, plays)
        return
    before = set(multiprocessing.active_children())
    # A fresh process each: a copy of this one would share what its threads hold at that moment.
    executor = ProcessPoolExecutor(
        min(jobs, len(plays)), mp_context=multiprocessing.get_context("spawn"), initializer=_begin
    )
    try:
        with _undisturbed():
            found = executor.map(played, plays)
        yield from found
    except BrokenProcessPool:
        raise Failure("a process that played was killed; run it with: --jobs 1") from None
    except BaseException:
        for child in set(multiprocessing.active_children()) - before:
            child.terminate()
        raise
    finally:
        executor.shutdown(cancel_futures=True)


def find_outcome(found: Iterator[Outcome | Bound]) -> Outcome:
    """Take what comes next, of a play with a strategy."""
    one = next(found)
    assert isinstance(one, Outcome)  # noqa: S101  # what was asked for
    return one


def find_bound(found: Iterator[Outcome | Bound]) -> Bound:
    """Take what comes next, of a play without a strategy."""
    one = next(found)
    assert isinstance(one, Bound)  # noqa: S101
    return one


def played(one: Play) -> Outcome | Bound:
    """Play it here."""
    workload = _made(*one.source) if isinstance(one.source, Made) else one.source
    if one.accounts is not None:
        workload = keep(workload, one.accounts)
    if one.strategy is not None:
        return play(workload, one.strategy, wait=one.wait)
    return Bound(bound(workload, one.wait), _asked(workload))


def asked(source: Made | Workload) -> float:
    """Add up all turns, at warm cost."""
    return _asked(_made(*source) if isinstance(source, Made) else source)


def _asked(workload: Workload) -> float:
    return sum(workload.price(turn, warm=True) for turn in workload.turns)


def keep(workload: Workload, places: Sequence[int]) -> Workload:
    """Leave only some of the accounts, and outside use of them."""
    accounts = tuple(workload.accounts[place] for place in places)
    names = {account.name for account in accounts}
    return replace(workload, accounts=accounts, outside=tuple(use for use in workload.outside if use.account in names))


def accounts_of(source: Made | Workload) -> tuple[str, ...]:
    """Name the accounts, in their order."""
    workload = _made(*source) if isinstance(source, Made) else source
    return tuple(account.name for account in workload.accounts)


@lru_cache(maxsize=2)
def _made(kind: str, seed: int) -> Workload:
    return convert(workloads.make(kind, seed))


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Put off what ends this process while others are started: one that has not heard all yet would tell its grief."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *ENDING})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """Let the process that started this one end it: by its word, or by its own end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)  # they were put off when this began
    threading.Thread(target=_watch, daemon=True).start()


def _watch() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
