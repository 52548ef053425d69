"""The least request, and what its answer tells."""

import json

import pytest

from credentials.redaction import MASKED
from credentials.web import Answer
from providers.anthropic import minimal
from providers.anthropic.errors import fault_body
from providers.anthropic.usage import Finding, Said
from routing.readings import Source, Status
from routing.words import Kind
from tests.routing.made import NOON, seconds

SECRET = "sk-ant-oat01-PLANTED-in-the-least-request"
SENT = NOON - seconds(1)
RESET = str(int(NOON.timestamp()) + 7200)


def found(status: int, body: bytes = b"", **fields: str) -> Finding:
    """What an answer tells."""
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    return minimal.finding(Answer(status=status, headers=named, body=body), SECRET, sent_at=SENT, now=NOON)


@pytest.mark.parametrize("kind", [Kind.OAUTH, Kind.SETUP_TOKEN])
def test_one_token_and_nothing_that_pretends(kind: Kind) -> None:
    """A model, one message, one token; no system prompt, no tools, and flowpool's own name."""
    asked = minimal.question("https://a.example", kind, SECRET, "claude-haiku-5-5", "flowpool/1")

    assert (asked.method, asked.url) == ("POST", "https://a.example/v1/messages")
    assert json.loads(asked.body) == {
        "model": "claude-haiku-5-5",
        "max_tokens": 1,
        "messages": [{"role": "user", "content": "ping"}],
    }
    assert dict(asked.headers) == {
        "accept": "application/json",
        "user-agent": "flowpool/1",
        "anthropic-version": "2023-06-01",
        "authorization": f"Bearer {SECRET}",
        "anthropic-beta": "oauth-2025-04-20",
        "content-type": "application/json",
    }
    assert SECRET not in repr(asked)


@pytest.mark.parametrize(
    ("model", "fit"),
    [
        (minimal.MODEL, True),
        ("claude-haiku-4-5-20251001", True),
        ("claude-opus-5-5", False),
        ("claude-fable-5-1", False),
        ("", False),
    ],
)
def test_which_models_a_subscription_may_ask_so_little(model: str, fit: bool) -> None:
    """The Haiku line alone."""
    assert minimal.is_fit(model) is fit


def test_what_an_answer_tells() -> None:
    """Its headers' windows, whatever its status: a refusal has those that it is for."""
    fields = {
        "anthropic_ratelimit_unified_5h_utilization": "0.6",
        "anthropic_ratelimit_unified_5h_reset": RESET,
        "anthropic_ratelimit_unified_5h_status": "rejected",
    }
    for status in (200, 429):
        answer = found(status, b"{}", **fields)
        (reading,) = answer.readings
        assert (answer.said, reading.window.key, reading.used) == (Said.READ, "5h", 0.6)
        assert (reading.source, reading.status, reading.sent_at) == (Source.ANSWER, Status.REJECTED, SENT)


def test_what_says_nothing_of_windows() -> None:
    """A bare 429 is a limit on asking; any other answer says nothing, in the vendor's words without the secret."""
    assert found(429, fault_body("x", "Error"), retry_after="40") == Finding(
        said=Said.LIMITED, retry_after=seconds(40), detail="429 Error"
    )
    assert found(200, b"{}") == Finding(said=Said.NOTHING, detail="200")
    assert found(401, fault_body("x", f"no {SECRET}")) == Finding(said=Said.NOTHING, detail=f"401 no {MASKED}")
