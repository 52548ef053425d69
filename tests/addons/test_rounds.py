"""A duty goes on after a fault, and ends when it is told to."""

import asyncio

import pytest

from addons.rounds import Rounds


def test_a_round_that_fails_is_not_the_last(caplog: pytest.LogCaptureFixture) -> None:
    """It is logged under the duty's name; after the stop none comes."""
    seen: list[int] = []
    third = asyncio.Event()

    async def go() -> None:
        seen.append(len(seen))
        if len(seen) == 1:
            raise OSError("odd")
        if len(seen) == 3:
            third.set()

    async def play() -> None:
        rounds = Rounds("counting", go, 0)
        rounds.start()
        async with asyncio.timeout(10):
            await third.wait()
        rounds.stop()
        count = len(seen)
        for _ in range(5):
            await asyncio.sleep(0)
        assert len(seen) == count

    asyncio.run(play())
    assert [record.getMessage() for record in caplog.records] == ["flowpool: a fault of flowpool's own (counting)"]
    assert "odd" in caplog.text


def test_one_that_never_began_may_be_stopped() -> None:
    """As when the proxy could not start."""
    Rounds("nothing", asyncio.Event().wait, 0).stop()  # type: ignore[arg-type]
