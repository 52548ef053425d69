"""One line of the request ledger, read with care: models and paths in it come from far away."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from flowpool.proxy import clean

ANSWERS = {  # of flowpool's own, by their letters in docs/verdicts.md
    "A": "every account is out for now",
    "B": "no account's login is accepted",
    "C": "no account is enabled",
    "D": "the request was too large or too slow",
    "E": "the sender is not accepted",
    "F": "there is no such path",
    "H": "the client has no login, and nobody's identity to take",
    "I": "the proxy was about to end",
}
PASSED = "G"  # no accounts: the client's own login passed through
COUNTING = "/count_tokens"

_TAKEN = ("input", "cache_read", "cache_write_5m", "cache_write_1h")


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """One attempt, and what its answer meant: ok, limit, throttle and so on."""

    account: str
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One request that ended.

    status: None when the client got no answer. first_byte: seconds until the client had something. taken, given: tokens of the
    question (caches included) and of the answer; None when the answer did not tell. answer: the letter of an answer of flowpool's own.
    """

    at: datetime
    id: str
    path: str
    account: str
    model: str
    tried: tuple[Try, ...]
    status: int | None
    first_byte: float | None
    taken: int | None
    given: int | None
    answer: str
    ended: str


def read(line: Mapping[str, Any]) -> Row:
    """Read a line; raise ValueError when it is not one."""
    try:
        at = datetime.fromisoformat(line["at"])
        first, usage, status = line["first_byte_ms"], line["usage"], line["status"]
        return Row(
            at=at if at.tzinfo else at.replace(tzinfo=UTC),
            id=clean(line["id"]),
            path=_text(line["path"]),
            account=_text(line["account"]),
            model=_text(line["model"]),
            tried=tuple(Try(account=_text(one["account"]), verdict=_text(one["verdict"])) for one in line["tried"]),
            status=None if status is None else int(status),
            first_byte=None if first is None else float(first) / 1000,
            taken=None if usage is None else sum(int(usage[name] or 0) for name in _TAKEN),
            given=None if usage is None else int(usage["output"] or 0),
            answer=_text(line["answer"]),
            ended=_text(line["ended"]),
        )
    except (KeyError, TypeError, AttributeError, OverflowError, ValueError) as error:
        raise ValueError("not a line of the ledger") from error


def counts(row: Row) -> bool:
    """Tell whether tokens were counted, and no turn was asked."""
    return row.path.endswith(COUNTING)


def _text(value: Any) -> str:
    return "" if value is None else clean(value)


def trail(row: Row, arrow: str) -> str:
    """Tell whom the request met, such as "work limit → home"; who tried twice with the same outcome is named once."""
    told: list[list[Any]] = []
    for one in row.tried:
        words = one.account if one.verdict == "ok" else f"{one.account} {one.verdict}"
        if told and told[-1][0] == words:
            told[-1][1] += 1
        else:
            told.append([words, 1])
    parts = [words if count == 1 else f"{words} x{count}" for words, count in told]
    if row.answer == PASSED:
        parts.append("on the client's own login")
    elif row.answer:
        parts.append(f"flowpool refused: {ANSWERS.get(row.answer, f'answer {row.answer}')}")
    return f" {arrow} ".join(parts)
