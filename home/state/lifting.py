"""Holds that a person ends while no proxy runs."""

from collections.abc import Collection
from pathlib import Path

from sqlalchemy import true
from sqlalchemy.exc import DBAPIError

from home.state.database import prepare
from home.state.errors import StateError
from home.state.tables import CHECKS, HEALTH, HOLDS
from home.state.trouble import reason
from routing.words import AccountId


def lift(path: Path, accounts: Collection[AccountId], rows: Collection[int] | None = None) -> int:
    """End the accounts' holds and forget their refused logins; return how many holds there were. Raises StateError.

    rows: of these verdict rows alone (a new credential lifts LOGIN_ROWS); None: all.
    """
    if not path.exists():
        return 0
    try:
        with prepare(path).connect() as connection, connection.begin():
            which = true() if rows is None else HOLDS.c.verdict_row.in_(rows)
            ended = 0
            for one in accounts:
                ended += connection.execute(HOLDS.delete().where(HOLDS.c.account == one, which)).rowcount
                connection.execute(HEALTH.delete().where(HEALTH.c.account == one))
                connection.execute(CHECKS.update().where(CHECKS.c.account == one).values(failures=0, next_at=None))
    except (DBAPIError, OSError) as error:
        raise StateError(f"{path} cannot be written: {reason(error)}; run: ls -l '{path}'") from error
    return ended
