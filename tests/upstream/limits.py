"""The rate-limit headers of the vendor and the 429 answers that carry them."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from tests.upstream.answer import Answer, Headers, as_json

type Status = Literal["allowed", "allowed_warning", "rejected"]
type Unit = Literal["s", "ms", "iso"]

UNIFIED = "anthropic-ratelimit-unified-"
ORGANIZATION = "d49572e8-0000-4000-8000-00000000test"
CLAIMS = {
    "5h": "five_hour",
    "7d": "seven_day",
    "7d_oi": "seven_day_overage_included",
    "7d_opus": "seven_day_opus",
    "7d_sonnet": "seven_day_sonnet",
}
LIMIT_TEXT = "This request would exceed your account's rate limit. Please try again later."
_IDS = itertools.count(1)


def request_id() -> str:
    """A request id no other answer has."""
    return f"req_test{next(_IDS):08x}"


def ids() -> Headers:
    """The headers that every answer of the vendor carries."""
    return (("request-id", request_id()), ("anthropic-organization-id", ORGANIZATION))


def moment(seconds: float, unit: Unit = "s") -> str:
    """A time so many seconds from now as a header says it; whole seconds are rounded up, as the vendor sends them."""
    at = time.time() + seconds
    if unit == "iso":
        return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
    return str(math.ceil(at)) if unit == "s" else str(round(at * 1000))


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """One window as the headers report it; None leaves its header out. Under a second or so use unit "ms"."""

    key: str
    used: float | None = 0.1
    status: Status | None = "allowed"
    resets_in: float | None = 3600.0
    unit: Unit = "s"

    def headers(self) -> Headers:
        """The window's own headers."""
        pairs = (
            ("status", self.status),
            ("reset", None if self.resets_in is None else moment(self.resets_in, self.unit)),
            ("utilization", None if self.used is None else f"{self.used:g}"),
        )
        return tuple((f"{UNIFIED}{self.key}-{name}", value) for name, value in pairs if value is not None)


def unified(
    *windows: Window,
    status: Status | None = "allowed",
    claim: str | None = "seven_day",
    resets_in: float | None = 3600.0,
    unit: Unit = "s",
    overage: str | None = "rejected",
) -> Headers:
    """A set of unified headers; None leaves one out."""
    pairs = (
        ("status", status),
        ("representative-claim", claim),
        ("reset", None if resets_in is None else moment(resets_in, unit)),
        ("fallback-percentage", "0.5"),
        ("overage-status", overage),
        ("overage-disabled-reason", "org_level_disabled" if overage == "rejected" else None),
    )
    own = tuple((UNIFIED + name, value) for name, value in pairs if value is not None)
    return (*(pair for window in windows for pair in window.headers()), *own)


def healthy(used_5h: float = 0.1, used_7d: float = 0.4, *, in_5h: float = 9_000, in_7d: float = 290_000) -> Headers:
    """The unified headers of a subscription with room."""
    five, week = Window(key="5h", used=used_5h, resets_in=in_5h), Window(key="7d", used=used_7d, resets_in=in_7d)
    return unified(five, week, resets_in=in_7d)


def classic(remaining: int = 900, *, resets_in: float = 30.0) -> Headers:
    """The headers of an API key."""
    pairs = (("limit", "1000"), ("remaining", str(remaining)), ("reset", moment(resets_in, "iso")))
    names = ("requests", "input-tokens", "output-tokens")
    return tuple((f"anthropic-ratelimit-{kind}-{name}", value) for kind in names for name, value in pairs)


def refusal(
    status: int,
    kind: str,
    message: str,
    *,
    details: Mapping[str, str] | None = None,
    headers: Headers = (),
    label: str | None = None,
) -> Answer:
    """An error in the vendor's shape."""
    common = ids()
    error: dict[str, object] = {"type": kind, "message": message} | ({"details": dict(details)} if details else {})
    body = {"type": "error", "error": error, "request_id": common[0][1]}
    return as_json(label or f"{status} {kind}", body, status=status, headers=(*common, *headers))


def limit(
    *keys: str,
    resets_in: float | Mapping[str, float] = 3600.0,
    retry_after: str | int | None = "same",
    claim: str | None = "same",
    unit: Unit = "s",
    overall: float | None = None,
) -> Answer:
    """Refuse with a 429 of spent windows (rows 12, 13), first the one that decided.

    The shared windows that are not named are allowed. resets_in: seconds, or seconds by key. unit: "ms" for resets of
    less than a second. overall: unified-reset when it is not the first key's. retry_after, claim: None leaves them out.
    """
    spans = dict(resets_in) if isinstance(resets_in, Mapping) else dict.fromkeys(keys, resets_in)
    spent = [Window(key=key, used=1.0, status="rejected", resets_in=spans.get(key), unit=unit) for key in keys]
    rest = [
        Window(key="5h", used=0.28, resets_in=9_000),
        Window(key="7d", used=0.94, status="allowed_warning", resets_in=290_000),
    ]
    first = spans.get(keys[0], 3600.0)
    headers = unified(
        *(window for window in rest if window.key not in keys),
        *spent,
        status="rejected",
        claim=CLAIMS.get(keys[0], keys[0]) if claim == "same" else claim,
        resets_in=first if overall is None else overall,
        unit=unit,
    )
    after = str(max(0, math.ceil(first))) if retry_after == "same" else retry_after
    told = () if after is None else (("retry-after", str(after)), ("x-should-retry", "true"))
    return refusal(429, "rate_limit_error", LIMIT_TEXT, headers=(*headers, *told), label=f"429 limit {' '.join(keys)}")


def claim_only(claim: str = "seven_day", *, resets_in: float | None = 3600.0, retry_after: int | None = None) -> Answer:
    """A 429 that is rejected and names its window in the claim alone."""
    told = () if retry_after is None else (("retry-after", str(retry_after)),)
    headers = unified(status="rejected", claim=claim, resets_in=resets_in)
    return refusal(429, "rate_limit_error", LIMIT_TEXT, headers=(*headers, *told), label=f"429 claim {claim}")


def throttle(retry_after: str | int | None = None, *, headers: Headers | None = None) -> Answer:
    """A 429 with usage headers and no rejection (row 14); retry_after: seconds, a date, junk or None."""
    told = () if retry_after is None else (("retry-after", str(retry_after)),)
    usage = healthy() if headers is None else headers
    return refusal(429, "rate_limit_error", "Rate limited.", headers=(*usage, *told), label="429 throttle")


def bare(retry_after: str | int | None = None, message: str = "Error") -> Answer:
    """A 429 without any usage header (row 15)."""
    told = () if retry_after is None else (("retry-after", str(retry_after)),)
    return refusal(429, "rate_limit_error", message, headers=told, label="429 bare")


def overage(answer: Answer, key: str = "7d", *, resets_in: float = 3600.0) -> Answer:
    """That 2xx as paid extra usage (row 9): served, but unified-status is rejected."""
    others = [Window(key=name) for name in ("5h", "7d") if name != key]
    spent = Window(key=key, used=1.02, status="rejected", resets_in=resets_in)
    marks = unified(
        *others, spent, status="rejected", claim=CLAIMS.get(key, key), resets_in=resets_in, overage="allowed"
    )
    changed = answer.without(UNIFIED).having(*marks, (UNIFIED + "overage-in-use", "true"))
    return changed.named(f"{answer.label} overage {key}")
