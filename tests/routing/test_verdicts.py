"""Tests of routing/verdicts.py."""

import pytest

from routing.verdicts import VerdictKind
from tests.routing.made import OK, verdict


@pytest.mark.parametrize(
    ("row", "kind", "as_row", "blames"),
    [
        (24, VerdictKind.AUTH, 18, True),
        (24, VerdictKind.FORBIDDEN, 19, True),
        (24, VerdictKind.OVERLOADED, 24, False),
        (18, VerdictKind.AUTH, 18, True),
        (17, VerdictKind.AUTH, 17, True),
        (16, VerdictKind.AUTH, 16, True),
        (13, VerdictKind.LIMIT, 13, False),
    ],
)
def test_an_error_event_is_judged_as_the_row_of_its_type(
    row: int, kind: VerdictKind, as_row: int, blames: bool
) -> None:
    """A stream that begins with an authentication error blames the login as a 401 does."""
    met = verdict(row, kind=kind)

    assert (as_row, blames) == (met.as_row, met.blames_credential)


def test_row_8_alone_is_no_refusal() -> None:
    """An answer that is let through is no refusal; every other row is."""
    assert not OK.is_refusal
    assert all(verdict(row).is_refusal for row in range(1, 26) if row != 8)
