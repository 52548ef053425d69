"""The router's habits: which account a conversation was served by while its prompt cache is warm."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from routing.bounded import put_last
from routing.words import AccountId, ConversationId, Demand, SessionId

BOUND = 10_000  # conversations remembered; the one that was served longest ago goes first


@dataclass(frozen=True, slots=True, kw_only=True)
class Stick:
    """A conversation's habit for one model; until: the last moment at which the cache is warm."""

    account: AccountId
    until: datetime


type StickKey = tuple[ConversationId, str]
"""A conversation and the model that it speaks with."""


@dataclass(slots=True)
class Habits:
    """Sticks by conversation and model, and each session's latest account; both bounded."""

    bound: int = BOUND
    _sticks: dict[StickKey, Stick] = field(default_factory=dict)
    _sessions: dict[SessionId, AccountId] = field(default_factory=dict)

    def served(self, demand: Demand, account: AccountId, at: datetime) -> None:
        """Let the conversation stick to the account that served it to the end."""
        if demand.conversation is not None:
            stick = Stick(account=account, until=at + demand.cache_ttl)
            put_last(self._sticks, (demand.conversation, demand.model), stick, self.bound)

    def asked(self, demand: Demand, account: AccountId) -> None:
        """Remember the account as the session's latest."""
        if demand.session is not None:
            put_last(self._sessions, demand.session, account, self.bound)

    def warm(self, demand: Demand, now: datetime) -> AccountId | None:
        """Find the account on which the demand's prompt cache is warm."""
        if demand.conversation is None:
            return None
        stick = self._sticks.get((demand.conversation, demand.model))
        return stick.account if stick is not None and now <= stick.until else None

    def home(self, demand: Demand) -> AccountId | None:
        """Find the account that served the demand's conversation last, however long ago."""
        stick = None if demand.conversation is None else self._sticks.get((demand.conversation, demand.model))
        return None if stick is None else stick.account

    def latest(self, demand: Demand) -> AccountId | None:
        """Find the account that the demand's session was last sent to."""
        return None if demand.session is None else self._sessions.get(demand.session)

    def count_warm(self, now: datetime) -> int:
        """How many sticks are warm."""
        return sum(now <= stick.until for stick in self._sticks.values())

    def sticks(self) -> Mapping[StickKey, Stick]:
        """Copy the sticks, the one served longest ago first."""
        return self._sticks.copy()

    def restore(self, sticks: Mapping[StickKey, Stick]) -> None:
        """Take in sticks of before; what was served since stays."""
        merged = {**{key: stick for key, stick in sticks.items() if key not in self._sticks}, **self._sticks}
        self._sticks = dict(list(merged.items())[-self.bound :])

    def drop(self, account: AccountId) -> None:
        """Forget an account that was removed."""
        self._sticks = {key: stick for key, stick in self._sticks.items() if stick.account != account}
        self._sessions = {session: latest for session, latest in self._sessions.items() if latest != account}
