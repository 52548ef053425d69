"""What a strategy is asked: how much it likes an account, given its readings that count for the demand."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple, Protocol

from routing.readings import Reading


class Score(NamedTuple):
    """How much an account is liked, more is better, and the window that decided it."""

    value: float
    window: str


class Strategy(Protocol):
    """One way to order accounts; it never forbids one and never looks at another account."""

    @property
    def reason(self) -> str:
        """The words for a choice it decided, with {window} and {value} to be filled in."""

    def score(self, readings: Iterable[Reading], now: datetime) -> Score | None:
        """How much the account is liked; None when too little is known, which comes after every score.

        More use must never raise it.
        """
