"""Tests of routing/transport.py."""

from dataclasses import replace

import pytest

from routing.rules import Rules
from routing.transport import Failure, transport_verdict
from routing.verdicts import Hop
from tests.routing.made import demand, seconds


@pytest.mark.parametrize(
    ("failure", "replayable", "ambiguous", "same", "hop"),
    [
        (Failure.UNREACHABLE, False, False, (0.25, 1), Hop.NO),
        (Failure.STALE, False, False, (0,), Hop.NO),
        (Failure.BROKEN, True, False, (0,), Hop.NO),
        (Failure.BROKEN, False, False, (), Hop.NO),
        (Failure.BROKEN, False, True, (), Hop.ONE),
        (Failure.EMPTY_STREAM, False, True, (), Hop.ONE),
    ],
)
def test_rows_1_to_4(failure: Failure, replayable: bool, ambiguous: bool, same: tuple[float, ...], hop: Hop) -> None:
    """What may be sent again depends on whether anything was sent and whether sending it twice is harmless."""
    asked = replace(demand(), replayable=replayable)
    met = transport_verdict(failure, "it broke", asked, Rules(ambiguous=ambiguous))

    assert (failure.value, "it broke") == (met.row, met.because)
    assert (tuple(map(seconds, same)), hop) == (met.same, met.hop)
    assert met.hold is None
