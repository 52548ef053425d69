"""What a free choice took, beside which every other account is told of."""

from collections.abc import Callable
from dataclasses import dataclass

from routing.strategies.contract import Candidate, Free, Liking, Likings

_UNLIKED = Liking((float("inf"),), "")  # of which a strategy knows too little: behind all others

type Behind = Callable[[Candidate], str]
"""Why one comes after the first, of those that are liked less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A free choice among those that stand in front, how its strategy likes them, and the one that comes first."""

    free: Free
    likings: Likings
    first: Candidate

    @property
    def name(self) -> str:
        """What the person calls the first."""
        return self.first.account.name

    @property
    def latest(self) -> str:
        """What the person calls the account of the latest free choice, if it stands in front; else the first."""
        found = (one.account.name for one in self.free.candidates if one.account.id == self.free.latest)
        return next(found, self.name)

    def key(self, one: Candidate) -> tuple[float, ...]:
        """How an account is liked, the smaller the better."""
        return self.likings.get(one.account.id, _UNLIKED).key

    def because(self, one: Candidate) -> str:
        """The strategy's words for an account of which it knows enough."""
        return self.likings[one.account.id].because

    def less(self, words: str) -> str:
        """Say of one whose score is lower, told in these words, that it is."""
        return f"{words}, less than {self.name}"

    def too_little_more(self, words: str) -> str:
        """Say of one whose score is higher, told in these words, why it is not changed over to."""
        return f"{words}, more, but by too little to change over from {self.latest}"

    def as_good(self, one: Candidate) -> str:
        """Say what parts one from the first where the strategy's scores are equal: see routing.scoring."""
        if one.leases > self.first.leases:
            return f"as good, but more is in flight there than on {self.name}"
        if self.key(one) == self.key(self.first):
            return f"as good; the toss of this conversation fell to {self.name}"
        return f"as good, but {self.name} had the latest choice"
