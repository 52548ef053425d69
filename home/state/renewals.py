"""What outlives the process that renews a login: whose turn it is, how the last try went, which tokens are spent."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Connection, select
from sqlalchemy.exc import DBAPIError, IntegrityError

from credentials.journal import JournalFault
from credentials.renewal import Renewal
from home.running import is_alive
from home.state.database import is_busy, is_corrupt, prepare, replace
from home.state.errors import StateError
from home.state.tables import CLAIMS, RENEWALS, SPENT
from home.state.trouble import reason

HELD = timedelta(seconds=150)  # longer than a worker waits for an answer; one that still has to write says so again
GAP = timedelta(seconds=1.1)  # after a release, so that no two logins of a provider are renewed in the same second
KEPT = timedelta(days=60)  # twice as long as a refresh token lives
BUSY = 10.0  # seconds to wait for another program's lock, in all
PAUSE = 0.05


class Renewals:
    """The journal of one worker. What it wrote is on the disk when a method returns, even if the power fails then.

    holder: names the worker in its claims, beginning with its process id. clock: aware UTC.
    """

    def __init__(
        self,
        path: Path,
        *,
        holder: str = "",
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        gap: timedelta | None = None,
        busy: float = BUSY,
    ) -> None:
        self._path = path
        self._holder = holder or f"{os.getpid()}-{os.urandom(6).hex()}"
        self._clock = clock
        self._gap = GAP if gap is None else gap
        self._busy = busy
        self._connection: Connection | None = None
        self._file = 0  # the inode of what is open

    def claim(self, name: str) -> bool:
        """Take a claim that is free; False while another holds it. Raises JournalFault."""
        return self._do(lambda connection: self._claim(connection, name))

    def extend(self, name: str) -> bool:
        """Hold it for another while; False when it is another's by now. Raises JournalFault."""
        return self._do(lambda connection: self._move(connection, name, self._holder, self._clock() + HELD))

    def release(self, name: str) -> None:
        """Let it go, a little later than now: until then it has no holder. Raises JournalFault."""
        self._do(lambda connection: self._move(connection, name, "", self._clock() + self._gap))

    def last(self, account_id: str) -> Renewal | None:
        """Return how the last try ended. Raises JournalFault."""
        query = select(RENEWALS).where(RENEWALS.c.account == account_id)
        row = self._do(lambda connection: connection.execute(query).mappings().first())
        if row is None or row["at"] is None:  # not what flowpool wrote
            return None
        return Renewal(**{name: row[name] for name in row if name != "account"})

    def is_spent(self, fingerprint: str) -> bool:
        """Tell whether a refresh token was used up or refused. Raises JournalFault."""
        query = select(SPENT.c.outcome).where(SPENT.c.fingerprint == fingerprint)
        return self._do(lambda connection: connection.scalar(query)) is not None

    def note(self, account_id: str, renewal: Renewal, *, spent: str = "") -> None:
        """Write down a try; spent: what its token is from now on, "spent" or "refused". Raises JournalFault."""
        self._do(lambda connection: _note(connection, account_id, renewal, spent))

    def close(self) -> None:
        """Close the file."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(DBAPIError):
                connection.close()

    def _claim(self, connection: Connection, name: str) -> bool:
        found = connection.execute(select(CLAIMS).where(CLAIMS.c.name == name)).first()
        ours = {"holder": self._holder, "until": self._clock() + HELD}
        if found is None:
            try:
                connection.execute(CLAIMS.insert(), {"name": name, **ours})
            except IntegrityError:  # another was faster
                return False
            return True
        if not self._is_free(found.holder, found.until):
            return False
        same = (CLAIMS.c.name == name, CLAIMS.c.holder == found.holder)  # this transaction keeps others out
        return connection.execute(CLAIMS.update().where(*same).values(ours)).rowcount == 1

    def _is_free(self, holder: str, until: datetime | None) -> bool:
        """Whether a claim is over, its holder is gone, or its end is further off than any that is set: the clock was set back."""
        now = self._clock()
        if until is None or until <= now or until > now + 2 * HELD:
            return True
        pid = holder.partition("-")[0]
        is_gone = pid.isdecimal() and not is_alive(int(pid))
        return is_gone and until - HELD + self._gap <= now

    def _move(self, connection: Connection, name: str, holder: str, until: datetime) -> bool:
        ours = (CLAIMS.c.name == name, CLAIMS.c.holder == self._holder)
        return connection.execute(CLAIMS.update().where(*ours).values(holder=holder, until=until)).rowcount == 1

    def _do[T](self, work: Callable[[Connection], T]) -> T:
        """Do it in one transaction; another program's lock is waited for, and a corrupt file is set aside."""
        end, may_replace = time.monotonic() + self._busy, True
        while True:
            try:
                connection = self._connected()
                with connection.begin():
                    return work(connection)
            except (DBAPIError, OSError, StateError) as error:
                self.close()
                if is_busy(error) and time.monotonic() < end:
                    time.sleep(PAUSE)
                    continue
                if is_corrupt(error) and may_replace:
                    may_replace = False
                    self._set_aside()
                    continue
                raise self._fault(error) from error

    def _set_aside(self) -> None:
        """Let a fresh file begin, unless another program saw to that: what is forgotten costs a refused question, no login."""
        with suppress(OSError):  # the next try says it better
            if self._path.stat().st_ino == self._file:
                replace(self._path)

    def _fault(self, error: Exception) -> JournalFault:
        if isinstance(error, StateError):
            return JournalFault(str(error))
        return JournalFault(f"{self._path} cannot be written: {reason(error)}; run: ls -l '{self._path}'")

    def _connected(self) -> Connection:
        if self._connection is None:
            connection = prepare(self._path).connect()
            self._file = self._path.stat().st_ino
            connection.exec_driver_sql("PRAGMA synchronous = FULL")  # what was sent must not be forgotten
            connection.rollback()
            self._connection = connection
        return self._connection


def _note(connection: Connection, account_id: str, renewal: Renewal, spent: str) -> None:
    connection.execute(RENEWALS.delete().where(RENEWALS.c.account == account_id))
    row = {name: getattr(renewal, name) for name in RENEWALS.c.keys() if name != "account"}  # noqa: SIM118  # of columns
    connection.execute(RENEWALS.insert(), {"account": account_id, **row})
    if spent:
        over = (SPENT.c.fingerprint == renewal.fingerprint) | (SPENT.c.at < renewal.at - KEPT)
        connection.execute(SPENT.delete().where(over))
        gone = {"fingerprint": renewal.fingerprint, "account": account_id, "outcome": spent, "at": renewal.at}
        connection.execute(SPENT.insert(), gone)
