"""What is said of each account of a free choice, in the order in which it is liked."""

from routing.explain import likes
from routing.readings import Reading
from routing.rules import Routing
from routing.scoring import STRATEGIES
from routing.strategies.contract import Free
from routing.words import AccountId
from tests.routing.made import reading


def words(strategy: str, choice: Free) -> dict[AccountId, str]:
    """By account."""
    liked = likes(choice, STRATEGIES[strategy], Routing(strategy=strategy))
    return {account: its.because for account, its in sorted(liked.items(), key=lambda one: one[1].order)}


def week(used: float, after: float, session: float | None = None) -> tuple[Reading, ...]:
    """A week that resets after so many hours, and a 5-hour window with so much use that resets after three."""
    found = (reading("7d", used, resets=after),)
    return found if session is None else (*found, reading("5h", session, resets=3))
