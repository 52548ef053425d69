"""The vendor's own account of use on the fake upstream: percents, and its refusals, which are no word on the account."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from tests.upstream.answer import Answer, as_json


def usage_of(resets: Mapping[str, datetime] | None = None, **percents: float | None) -> Answer:
    """How full windows are, by their names here (five_hour); resets: where they are to be told."""
    ends = {name: at.isoformat() for name, at in (resets or {}).items()}
    blocks = {name: {"utilization": percent, "resets_at": ends.get(name)} for name, percent in percents.items()}
    return as_json("usage", blocks)


def usage_limited(retry_after: int | None = None) -> Answer:
    """What whoever asks too often gets."""
    return _refused("rate_limit_error", "Rate limited. Please try again later.", 429, retry_after)


def usage_out_of_scope() -> Answer:
    """What a setup token gets."""
    return _refused("permission_error", "OAuth token does not meet scope requirement user:profile", 403)


def _refused(kind: str, message: str, status: int, retry_after: int | None = None) -> Answer:
    said = {"type": "error", "error": {"type": kind, "message": message}}
    fields = () if retry_after is None else (("retry-after", str(retry_after)),)
    return as_json(f"usage {status}", said, status=status, headers=fields)
