"""How full an account's windows are, from the provider's own account of use: what to ask, and what the answer means.

It costs no quota and is not documented, so every field may be missing. It counts in percent where headers count in fractions, which
follows from where a number came from, never from its size. It is limited itself, some 28 calls an hour for each account, more tightly
for programs that it does not know; flowpool says who it is all the same. Tokens without the scope user:profile, as setup tokens are,
get a 403. Fact: docs/facts/anthropic.md#usage-endpoint.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Any

from credentials import web
from providers import times
from providers.anthropic import checks, errors, headers
from routing.readings import Reading, Source
from routing.windows import KNOWN_FAMILIES, KNOWN_LINES, Window
from routing.words import Kind

PATH = "/api/oauth/usage"
SCOPE = "user:profile"

_OK, _FORBIDDEN, _TOO_MANY = 200, 403, 429
_PERCENT = 100
_SPANS = {"five_hour": "5h", "seven_day": "7d"}
_KINDS = {"session": "5h", "weekly_all": "7d"}  # of what stands in `limits`
_SCOPED, _WEEK = "weekly_scoped", "7d"
_HALF = timedelta(milliseconds=500)
_WORD = re.compile(r"[a-z]+")


class Said(Enum):
    """What became of the question."""

    READ = auto()
    LIMITED = auto()  # asked too often, which is no word on the account
    CLOSED = auto()  # this credential may not ask
    NOTHING = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What an answer says. retry_after: how long to stay away, where that was said. detail: why nothing was read, for a screen."""

    said: Said
    readings: tuple[Reading, ...] = ()
    retry_after: timedelta | None = None
    detail: str = ""


def may_ask(kind: Kind, scopes: str | tuple[str, ...] | None) -> bool:
    """Whether a credential may ask, as far as is known; scopes: those it was given, None where nobody said."""
    if kind is not Kind.OAUTH:
        return False
    return not scopes or SCOPE in (scopes.split() if isinstance(scopes, str) else scopes)


def question(upstream: str, secret: str, agent: str) -> web.Question:
    """The GET that asks with this access token; agent: who says that it asks."""
    return checks.question(upstream + PATH, Kind.OAUTH, secret, agent)


def finding(answer: web.Answer, secret: str, *, sent_at: datetime, now: datetime) -> Finding:
    """What an answer means; whatever it is, it raises nothing."""
    if answer.status == _OK:
        found = readings(answer.body, sent_at=sent_at, now=now)
        said = Said.READ if found else Said.NOTHING
        return Finding(said=said, readings=found, detail="" if found else "no window could be read in its answer")
    message = errors.read_fault(answer.body).message
    detail = f"{answer.status} {checks.told(message, secret)}".strip()
    if answer.status == _TOO_MANY:
        return Finding(said=Said.LIMITED, retry_after=headers.retry_after(answer.headers, now), detail=detail)
    is_closed = answer.status == _FORBIDDEN and "scope" in message.lower()
    return Finding(said=Said.CLOSED if is_closed else Said.NOTHING, detail=detail)


def readings(body: bytes, *, sent_at: datetime, now: datetime) -> tuple[Reading, ...]:
    """The windows that an answer's body tells, shortest first; a field that cannot be read counts as not told."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return ()
    if not isinstance(found, dict):
        return ()
    told: dict[str, Reading] = {}
    for window, percent, resets_at in (*_named(found), *_listed(found)):
        reading = _reading(window, percent, resets_at, sent_at=sent_at, now=now)
        if reading is not None and (window.key not in told or told[window.key].used is None):
            told[window.key] = reading
    return tuple(sorted(told.values(), key=lambda reading: (reading.window.length, reading.window.key)))


def _named(found: Mapping[str, Any]) -> Iterator[tuple[Window, object, object]]:
    """Windows that have a field of their own; those of other than model lines (seven_day_cowork) are none of a request's."""
    for name, block in found.items():
        window = _window(name)
        if window is not None and isinstance(block, dict):
            yield window, block.get("utilization"), block.get("resets_at")


def _window(name: str) -> Window | None:
    for span, key in _SPANS.items():
        if name == span:
            return Window.parse(key)
        if name.startswith(f"{span}_"):
            line = _line(name.removeprefix(f"{span}_"))
            return Window.parse(f"{key}_{line}") if line else None
    return None


def _listed(found: Mapping[str, Any]) -> Iterator[tuple[Window, object, object]]:
    """Windows in the list `limits`, where alone some model lines' are."""
    limits = found.get("limits")
    for limit in limits if isinstance(limits, list) else ():
        if isinstance(limit, dict):
            window = _listed_window(limit)
            if window is not None:
                yield window, limit.get("percent"), limit.get("resets_at")


def _listed_window(limit: Mapping[str, Any]) -> Window | None:
    kind = limit.get("kind")
    if not isinstance(kind, str):
        return None
    if kind != _SCOPED:
        return Window.parse(_KINDS.get(kind, ""))
    model = errors.dig(limit, "scope", "model")
    line = _line(f"{errors.text(errors.dig(model, 'id'))} {errors.text(errors.dig(model, 'display_name'))}")
    return Window.parse(f"{_WEEK}_{line}") if line else None


def _line(name: str) -> str:
    """The model line, as headers call it, that a name speaks of; empty when it is none."""
    words = _WORD.findall(name.lower())
    family = next((known for known in KNOWN_FAMILIES if known in words), None)
    if family is None:
        return name if name in KNOWN_LINES else ""
    return next((line for line, families in KNOWN_LINES.items() if family in families), family)


def _reading(window: Window, percent: object, resets_at: object, *, sent_at: datetime, now: datetime) -> Reading | None:
    used, reset = _fraction(percent), _reset(resets_at, window, now)
    if used is None and reset is None:
        return None
    return Reading(
        window=window,
        used=used,
        resets_at=reset,
        status=None,
        sent_at=sent_at,
        taken_at=now,
        source=Source.USAGE,
    )


def _fraction(percent: object) -> float | None:
    """A percentage as a fraction; None for what is none, text, true and NaN included."""
    if isinstance(percent, bool) or not isinstance(percent, int | float):
        return None
    return percent / _PERCENT if 0 <= percent <= headers.MOST_USED * _PERCENT else None


def _reset(text: object, window: Window, now: datetime) -> datetime | None:
    """A window's reset to the second: this source has it a fraction of one off, each time another, where headers have whole ones."""
    at = times.reset(text, window.length, now) if isinstance(text, str) else None
    return None if at is None else (at + _HALF).replace(microsecond=0)
