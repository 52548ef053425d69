"""What the fake answers where nothing is scripted: good turns, the small paths, and an echo of any other."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from tests.upstream.answer import Answer, as_json
from tests.upstream.limits import ids
from tests.upstream.messages import MODEL, ok, ok_json
from tests.upstream.received import Received

MESSAGES, COUNT, MODELS = "/v1/messages", "/v1/messages/count_tokens", "/v1/models"
USAGE, HELLO = "/api/oauth/usage", "/api/hello"
OPEN = frozenset({HELLO})  # answered without a credential


def unscripted(received: Received) -> Answer:
    """The answer to a request with a known credential that no script covers."""
    match received.method, received.path.partition("?")[0]:
        case "POST", "/v1/messages":
            return _turn(received)
        case "POST", "/v1/messages/count_tokens":
            return as_json("count", {"input_tokens": max(1, received.size // 4)}, headers=ids())
        case "GET", "/v1/models":
            model = {
                "type": "model",
                "id": MODEL,
                "display_name": "Claude Opus 5.5",
                "created_at": "2026-06-01T00:00:00Z",
            }
            return as_json("models", {"data": [model], "has_more": False, "first_id": MODEL, "last_id": MODEL})
        case "GET", "/api/oauth/usage":
            return as_json("usage", _usage())
        case _, "/api/hello":
            return as_json("hello", {"message": "hello"})
        case _:
            return _echo(received)


def _turn(received: Received) -> Answer:
    """A good turn in the form that was asked for, by the model that was asked."""
    asked = json.loads(received.body) if received.body else {}
    text = f"This is {received.account} speaking."
    model = str(asked.get("model", MODEL))
    return ok(text, model=model) if asked.get("stream") else ok_json(text, model=model)


def _usage() -> dict[str, object]:
    now = datetime.now(UTC)
    return {
        "five_hour": {"utilization": 10.0, "resets_at": (now + timedelta(hours=2)).isoformat()},
        "seven_day": {"utilization": 40.0, "resets_at": (now + timedelta(days=3)).isoformat()},
        "seven_day_opus": None,
        "limits": [],
    }


def _echo(received: Received) -> Answer:
    """The request as it came; credentials only by their owner's name."""
    hidden = {"authorization", "x-api-key", "cookie", "proxy-authorization"}
    headers = [[name, received.account if name.lower() in hidden else value] for name, value in received.headers]
    body = {"method": received.method, "path": received.path, "account": received.account, "headers": headers}
    return as_json("echo", {**body, "body": received.body.decode("latin-1"), "digest": received.digest})
