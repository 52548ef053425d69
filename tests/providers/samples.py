"""Answers in the shapes that were recorded, redacted and with made-up ids, and the moment they belong to."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from providers.contract import Answer, Fields, Head
from routing.rules import Rules
from routing.words import Demand, Family

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)  # a Monday
RULES = Rules()
OPUS = Demand(provider="anthropic", model="claude-opus-5-5", family=Family("opus"))
MESSAGES = Head(method="POST", path="/v1/messages?beta=true", headers={})
REPLIES = Path(__file__).parent / "replies"
UNIFIED = "anthropic-ratelimit-unified-"


def at(**span: float) -> str:
    """Unix seconds of a moment after noon."""
    return str(int((NOON + timedelta(**span)).timestamp()))


def unified(**fields: str) -> dict[str, str]:
    """Headers of the unified form: w5h_status for 5h-status, w7d__oi_status for 7d_oi-status."""
    return {UNIFIED + "_".join(part.replace("_", "-") for part in name.removeprefix("w").split("__")): text
            for name, text in fields.items()}  # fmt: skip


def error(kind: str = "invalid_request_error", message: str = "", code: str = "") -> bytes:
    """An error body of the vendor's shape."""
    inner: dict[str, object] = {"type": kind, "message": message}
    if code:
        inner["details"] = {"error_code": code}
    return json.dumps({"type": "error", "error": inner, "request_id": "req_madeup"}).encode()


def sample(name: str) -> tuple[Answer, Fields]:
    """A recorded answer: its first line is the status, then the fields, an empty line, the body."""
    head, _, body = (REPLIES / name).read_bytes().partition(b"\n\n")
    status, *lines = head.decode().splitlines()
    fields = tuple((line.partition(": ")[0], line.partition(": ")[2]) for line in lines)
    headers = {name.lower(): value for name, value in reversed(fields)}
    return Answer(status=int(status), headers=headers, body=body.rstrip(b"\n")), fields
