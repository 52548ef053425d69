"""Calls that block do not hold up the loop, nor its end."""

import asyncio
import threading
import time

import pytest

from addons.aside import aside


def test_a_result_comes_back() -> None:
    """And so does what is raised; the loop goes on meanwhile."""
    go = threading.Event()

    def fail() -> None:
        raise LookupError("no")

    async def play() -> int:
        waiting = asyncio.create_task(aside(lambda: go.wait(10) and 7))
        await asyncio.sleep(0)
        go.set()
        with pytest.raises(LookupError):
            await aside(fail)
        return int(await waiting)

    assert asyncio.run(play()) == 7


def test_a_call_that_is_not_waited_for_keeps_nothing_from_ending() -> None:
    """The loop ends while it still blocks, and what it returns later goes nowhere."""
    go, over = threading.Event(), threading.Event()

    def block() -> None:
        go.wait(60)
        over.set()

    async def play() -> None:
        task = asyncio.create_task(aside(block))
        await asyncio.sleep(0)
        task.cancel()

    began = time.monotonic()
    asyncio.run(play())
    assert time.monotonic() - began < 30
    go.set()
    assert over.wait(10)
