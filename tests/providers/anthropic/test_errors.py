"""The vendor's error shape."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.anthropic.errors import Fault, dig, fault_body, read_fault, text, type_of
from tests.providers.samples import error


@given(body=st.binary() | st.recursive(st.none() | st.text() | st.integers(), lambda inner: st.lists(inner)
       | st.dictionaries(st.sampled_from(["error", "type", "message", "details", "error_code"]), inner)).map(
           lambda tree: json.dumps(tree).encode()))  # fmt: skip
def test_no_body_makes_reading_fail(body: bytes) -> None:
    """Any body has a fault, with empty parts where it says nothing."""
    fault = read_fault(body)
    assert all(isinstance(part, str) for part in (fault.type, fault.message, fault.code))


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (error("rate_limit_error", "no", "why"), Fault(type="rate_limit_error", message="no", code="why")),
        (b'{"error":"text"}', Fault(message="text")),
        (b'{"error":{"type":5,"message":null,"details":[]}}', Fault()),
        (b"[]", Fault()),
        (b"", Fault()),
        (b" <html>overloaded_error</html>", Fault()),
        (b"token has been revoked", Fault(message="token has been revoked")),
        (b"[" * 100_000, Fault(message="[" * 4096)),
        (b'{"error":{"type":"api_error","mess', Fault(type="api_error", message='{"error":{"type":"api_error","mess')),
    ],
)
def test_bodies(body: bytes, fault: Fault) -> None:
    """The parts are found where they are, and what can still be told of a body that was cut."""
    assert read_fault(body) == fault


@given(message=st.text())
def test_our_own_errors_are_read_back(message: str) -> None:
    """An error that we write is the vendor's, in one line."""
    body = fault_body("api_error", message)
    assert read_fault(body) == Fault(type="api_error", message=message)
    assert b"\n" not in body
    assert b'"type":"api_error"' in body


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "invalid_request_error"), (401, "authentication_error"), (402, "billing_error"), (403, "permission_error"), (404, "not_found_error"), (408, "timeout_error"), (413, "request_too_large"),
     (422, "invalid_request_error"), (429, "rate_limit_error"), (500, "api_error"), (502, "api_error"),
     (503, "api_error"), (504, "timeout_error"), (529, "overloaded_error")],
)  # fmt: skip
def test_types(status: int, kind: str) -> None:
    """Each status has the vendor's type."""
    assert type_of(status) == kind


def test_digging() -> None:
    """A path leads to its value, or to nothing."""
    assert dig({"a": {"b": 1}}, "a", "b") == 1
    assert dig({"a": []}, "a", "b") is None
    assert text(5) == ""
