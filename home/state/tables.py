"""The tables of the state, in types that SQLite and PostgreSQL share."""

from datetime import UTC, datetime
from typing import Any, override

from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    Dialect,
    Float,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    TypeDecorator,
)
from sqlalchemy.types import TypeEngine

from home.state import moments


class Moment(TypeDecorator[datetime]):
    """An aware datetime in UTC: text in SQLite, timestamptz in PostgreSQL."""

    impl = DateTime(timezone=True)
    cache_ok = True

    @override
    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Choose how the database keeps it."""
        return dialect.type_descriptor(String(moments.LENGTH) if dialect.name == "sqlite" else self.impl_instance)

    @override
    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """Turn it into what is kept; a time without its zone is a fault of ours."""
        if value is None:
            return None
        text = moments.to_text(value)
        return text if dialect.name == "sqlite" else value.astimezone(UTC)

    @override
    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """Give it back; what is no moment is None."""
        del dialect
        return value.astimezone(UTC) if isinstance(value, datetime) else moments.of_text(value)


METADATA = MetaData()
_SERIAL = BigInteger().with_variant(Integer, "sqlite")  # only INTEGER counts up by itself there

META = Table("meta", METADATA, Column("name", String, primary_key=True), Column("value", String, nullable=False))

READINGS = Table(
    "readings",
    METADATA,
    Column("account", String, primary_key=True),
    Column("window_key", String, primary_key=True),
    Column("used", Float),
    Column("resets_at", Moment),
    Column("status", String),
    Column("sent_at", Moment, nullable=False),
    Column("taken_at", Moment, nullable=False),
)

HISTORY = Table(
    "reading_history",
    METADATA,
    Column("seq", _SERIAL, primary_key=True),
    Column("account", String, nullable=False),
    Column("window_key", String, nullable=False),
    Column("used", Float),
    Column("resets_at", Moment),
    Column("status", String),
    Column("taken_at", Moment, nullable=False),
    Index("reading_history_by_window", "account", "window_key", "taken_at"),
    Index("reading_history_by_age", "taken_at"),
)

HOLDS = Table(
    "holds",
    METADATA,
    Column("seq", _SERIAL, primary_key=True),
    Column("account", String, nullable=False),
    Column("family", String),  # null: every family
    Column("verdict_row", SmallInteger, nullable=False),
    Column("until", Moment, nullable=False),
    Column("because", Text, nullable=False),
    Column("windows", Text, nullable=False),  # a JSON list of window keys
    Column("set_at", Moment, nullable=False),
    Index("holds_by_account", "account"),
)

HEALTH = Table(
    "health",
    METADATA,
    Column("account", String, primary_key=True),
    Column("auth_failures", Integer, nullable=False),
    Column("auth_failed_at", Moment, nullable=False),
)

CHECKS = Table(
    "checks",
    METADATA,
    Column("account", String, primary_key=True),
    Column("failures", Integer, nullable=False),
    Column("next_at", Moment),
    Column("checked_at", Moment),
)

LIFETIMES = Table(
    "lifetimes",
    METADATA,
    Column("account", String, primary_key=True),
    Column("expires_at", Moment),
    Column("refresh_expires_at", Moment),
    Column("is_refreshable", SmallInteger, nullable=False),  # 0 or 1
)

CAPACITIES = Table(  # what was paid on an account while so much of a window filled up
    "capacities",
    METADATA,
    Column("account", String, primary_key=True),
    Column("window_key", String, primary_key=True),
    Column("cost", Float, nullable=False),
    Column("share", Float, nullable=False),
)

GAUGES = Table(  # what asking for an account's windows met
    "gauges",
    METADATA,
    Column("account", String, primary_key=True),
    Column("met_with", String, nullable=False),  # the fingerprint of its credential then
    Column("asked_at", Moment),
    Column("failures", Integer, nullable=False),
    Column("rest_until", Moment),
    Column("because", Text, nullable=False),
    Column("is_throttled", SmallInteger, nullable=False),  # 0 or 1
    Column("is_closed", SmallInteger, nullable=False),  # 0 or 1
)

STICKS = Table(
    "sticks",
    METADATA,
    Column("conversation", String, primary_key=True),
    Column("model", String, primary_key=True),
    Column("account", String, nullable=False),
    Column("until", Moment, nullable=False),
    Index("sticks_by_end", "until"),
)

PINS = Table(  # the operator's wishes, and when they were heeded
    "pins",
    METADATA,
    Column("scope", String, primary_key=True),
    Column("name", String, primary_key=True),  # a session or conversation, or empty
    Column("model", String, primary_key=True),  # or empty
    Column("accounts", Text, nullable=False),  # a JSON list of ids
    Column("moves", SmallInteger, nullable=False),  # 0 or 1
    Column("at", Moment, nullable=False),
)

LINES = Table(  # model lines without a known meaning, and the families that they were met on
    "lines",
    METADATA,
    Column("line", String, primary_key=True),
    Column("family", String, primary_key=True),
)

REQUESTS = Table(
    "requests",
    METADATA,
    Column("seq", _SERIAL, primary_key=True),
    Column("at", Moment, nullable=False),
    Column("id", String, nullable=False),
    Column("conversation", String),
    Column("model", String),
    Column("path", String),
    Column("account", String),
    Column("because", Text),
    Column("tried", Text, nullable=False),  # JSON, as in the ledger's line
    Column("status", Integer),
    Column("first_byte_ms", Float),
    Column("total_ms", Float),
    Column("usage", Text),  # JSON, as in the ledger's line
    Column("answer", String),
    Column("ended", String),
    Index("requests_by_age", "at"),
    Index("requests_by_id", "id"),
)

STORIES = Table(  # how a request came to where it went
    "stories",
    METADATA,
    Column("seq", _SERIAL, primary_key=True),
    Column("at", Moment, nullable=False),
    Column("id", String, nullable=False),
    Column("told", Text, nullable=False),  # a JSON object
    Index("stories_by_age", "at"),
    Index("stories_by_id", "id"),
)

CLAIMS = Table(  # whose turn it is to renew a login of a provider
    "claims",
    METADATA,
    Column("name", String, primary_key=True),
    Column("holder", String, nullable=False),
    Column("until", Moment, nullable=False),
)

RENEWALS = Table(  # how the last try to renew an account's login ended
    "renewals",
    METADATA,
    Column("account", String, primary_key=True),
    Column("fingerprint", String, nullable=False),
    Column("outcome", String, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("retry_at", Moment),
    Column("asked_until", Moment),
    Column("because", Text, nullable=False),
    Column("at", Moment, nullable=False),
)

SPENT = Table(  # fingerprints of refresh tokens that are never sent again
    "spent",
    METADATA,
    Column("fingerprint", String, primary_key=True),
    Column("account", String, nullable=False),
    Column("outcome", String, nullable=False),
    Column("at", Moment, nullable=False),
    Index("spent_by_age", "at"),
)
