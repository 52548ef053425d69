"""One request's story, read with care: models and reasons in it come from far away."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from flowpool.proxy import clean

type Plain = dict[str, Any]

SHORT = 8  # letters of a conversation's name that are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Stood:
    """One account when a choice was made. order: 1 for the best liked; None when it was not asked, or may not serve."""

    account: str
    may: bool
    because: str
    until: datetime | None
    order: int | None
    in_flight: int
    windows: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One choice. kind: use, wait or give_up; times: how often in a row it was the same. accounts: None when none was weighed."""

    at: datetime
    kind: str
    account: str
    because: str
    until: datetime | None
    times: int
    accounts: tuple[Stood, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One sending. took, waited: seconds; None when not known any more."""

    account: str
    row: int | None
    verdict: str
    because: str
    status: int | None
    took: float | None
    waited: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens: read from the cache, new in the question, written to the cache, answered."""

    read: int
    fresh: int
    written: int
    output: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """How a request came to where it went.

    kept: whether more than its line in the ledger is known; otherwise choices, size, streams and so on are not.
    warm: the account that had the conversation's cache. home: the one that served it last, however long ago.
    """

    kept: bool
    id: str
    at: datetime
    path: str
    model: str
    family: str
    session: str
    conversation: str
    size: int | None
    streams: bool | None
    strategy: str
    warm: str
    home: str
    choices: tuple[Choice, ...]
    attempts: tuple[Attempt, ...]
    waited: float | None
    heartbeats: int
    status: int | None
    account: str
    because: str
    answer: str
    ended: str
    first_byte: float | None
    total: float | None
    usage: Usage | None


def of_line(line: Mapping[str, Any]) -> Plain:
    """Make the story of which only the ledger's line is left."""
    attempts = [{**one, "because": None, "sent_at": None, "took_ms": None, "waited_ms": None} for one in line["tried"]]
    unknown = (
        "family",
        "session",
        "size",
        "stream",
        "side",
        "strategy",
        "warm",
        "home",
        "choices",
        "waited_ms",
        "heartbeats",
    )
    story = {name: value for name, value in line.items() if name != "tried"} | dict.fromkeys(unknown)
    return story | {"conversation": (line["conversation"] or "")[:SHORT] or None, "attempts": attempts, "kept": False}


def read(told: Mapping[str, Any]) -> Story:
    """Read a story; raise ValueError when it is none."""
    try:
        return _read(told)
    except (KeyError, TypeError, AttributeError, OverflowError, ValueError) as error:
        raise ValueError("not the story of a request") from error


def _read(told: Mapping[str, Any]) -> Story:
    return Story(
        kept=told.get("kept", True) is True,
        id=_id(told["id"]),
        session=_text(told.get("session")),  # stories of before have none
        at=_moment(told["at"]),
        **{
            name: _text(told[name])
            for name in (
                "path", "model", "family", "conversation", "strategy", "warm", "home",
                "account", "because", "answer", "ended",
            )
        },
        size=_maybe(int, told["size"]),
        streams=_maybe(bool, told["stream"]),
        choices=tuple(_choice(one) for one in told["choices"] or ()),
        attempts=tuple(_attempt(one) for one in told["attempts"]),
        waited=_maybe(_seconds, told["waited_ms"]),
        heartbeats=int(told["heartbeats"] or 0),
        status=_maybe(int, told["status"]),
        first_byte=_maybe(_seconds, told["first_byte_ms"]),
        total=_maybe(_seconds, told["total_ms"]),
        usage=_maybe(_usage, told["usage"]),
    )  # fmt: skip


def _choice(told: Mapping[str, Any]) -> Choice:
    return Choice(
        at=_moment(told["at"]),
        kind=_text(told["kind"]),
        account=_text(told["account"]),
        because=_text(told["because"]),
        until=_maybe(_moment, told["until"]),
        times=int(told["times"]),
        accounts=_maybe(lambda found: tuple(_stood(one) for one in found), told["accounts"]),
    )


def _stood(told: Mapping[str, Any]) -> Stood:
    return Stood(
        account=_text(told["account"]),
        may=told["may"] is True,
        because=_text(told["because"]),
        until=_maybe(_moment, told["until"]),
        order=_maybe(int, told["order"]),
        in_flight=int(told["in_flight"]),
        windows={_text(key): float(used) for key, used in told["windows"].items()},
    )


def _attempt(told: Mapping[str, Any]) -> Attempt:
    return Attempt(
        account=_text(told["account"]),
        row=_maybe(int, told["row"]),
        verdict=_text(told["verdict"]),
        because=_text(told["because"]),
        status=_maybe(int, told["status"]),
        took=_maybe(_seconds, told["took_ms"]),
        waited=_maybe(_seconds, told["waited_ms"]),
    )


def _usage(told: Mapping[str, Any]) -> Usage:
    def count(name: str) -> int:
        return int(told[name] or 0)

    return Usage(
        read=count("cache_read"),
        fresh=count("input"),
        written=count("cache_write_5m") + count("cache_write_1h"),
        output=count("output"),
    )


def cache(story: Story) -> str:
    """Say whether the conversation's cache was read or rebuilt, and where it had been warm."""
    usage, served = story.usage, story.account
    if usage is None or not served or not (usage.read or usage.written):
        return "no cache was used" if usage is not None else ""
    did = f"cache read on {served}" if usage.read >= usage.written else f"cache rebuilt on {served}"
    if not story.kept:
        return f"{did}; where it had been warm is no longer known"
    if story.warm:
        return f"{did}, where it was warm" if story.warm == served else f"{did}; it was warm on {story.warm}"
    if story.home:
        return f"{did}; it had gone cold {'there' if story.home == served else f'on {story.home}'}"
    return f"{did}; it was not known to be warm anywhere"


def _maybe[T](read_one: Callable[[Any], T], value: Any) -> T | None:
    return None if value is None else read_one(value)


def _seconds(milliseconds: Any) -> float:
    return float(milliseconds) / 1000


def _moment(value: Any) -> datetime:
    moment = datetime.fromisoformat(value)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _id(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("an id is text")
    return clean(value)


def _text(value: Any) -> str:
    return "" if value is None else clean(value)
