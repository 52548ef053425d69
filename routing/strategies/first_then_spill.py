"""The first account as long as it lasts, the others for what spills over.

The law; left is what is left of an account's fullest window that counts, all of it where nothing was read:

    in the person's order (rank, then the order in which the accounts were added), the first account of these:
        the current one, while at least 10 % is left of it
        another one before it, once at least 20 % is left of that
        another one after it, with at least 20 % left, once less than 10 % is left of the current one
    if there is none: the most left, the current one unless another has more even if each reading is a point off

Current is the account of the latest free choice; while there is none, the first. The gap between 10 and 20 % keeps
choices from going back and forth.
"""

from dataclasses import dataclass

from routing.strategies.balance import BACK, SPENT, left
from routing.strategies.contract import Candidate, Free, Liking, Likings
from routing.strategies.steady import POINT, SLACK, latest_of
from routing.strategies.turns import Turn, placed, turns
from routing.words import AccountId


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstThenSpill:
    """The strategy."""

    reads_ranks: bool = True
    reads_windows: bool = False
    reads_pressure: bool = False

    def order(self, free: Free) -> Likings:
        """Like the law says."""
        order = turns(free)
        room = {one.account.id: left(one, free.now) for one in free.candidates}
        current = current_of(free, order)
        if current is None:
            return {}
        likings = {}
        for one in free.candidates:
            account = one.account.id
            if _may_take(one, current, order, room):
                likings[account] = Liking((0, *order[account]), f"{placed(one.account)}, {room[account]:.0%} left")
            else:
                favour = 2 * POINT if one is current else 0.0
                because = f"{room[account]:.0%} left, and little of every other"
                likings[account] = Liking((1, -room[account] - favour, *order[account]), because)
        return likings


def current_of(free: Free, order: dict[AccountId, Turn]) -> Candidate | None:
    """The account of the latest free choice, else the first in the person's order; None where there is none."""
    return latest_of(free) or min(free.candidates, key=lambda one: order[one.account.id], default=None)


def _may_take(one: Candidate, current: Candidate, order: dict[AccountId, Turn], room: dict[AccountId, float]) -> bool:
    """Whether enough is left of an account, for its place beside the current one."""
    here, its = current.account.id, one.account.id
    if one is current:
        return room[here] >= SPENT - SLACK
    if room[here] >= SPENT - SLACK:
        return order[its] < order[here] and room[its] >= BACK - SLACK
    return room[its] >= BACK - POINT - SLACK  # a point off, so that noise brings no second change
