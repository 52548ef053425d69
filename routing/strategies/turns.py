"""The person's order of accounts: rank, lower first, then the order in which they were added."""

from routing.strategies.contract import Free
from routing.words import Account, AccountId

type Turn = tuple[float, ...]


def turns(free: Free) -> dict[AccountId, Turn]:
    """Each candidate's place in the person's order, the smaller the earlier; one without a rank comes after all that have one."""
    return {one.account.id: (*_rank(one.account), place) for place, one in enumerate(free.candidates)}


def _rank(account: Account) -> Turn:
    return (1, 0) if account.rank is None else (0, account.rank)


def placed(account: Account) -> str:
    """Words for where it stands: its rank, or that it has none."""
    return "no rank, added first" if account.rank is None else f"rank {account.rank}"
