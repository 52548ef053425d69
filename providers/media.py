"""What kind of body an answer's headers announce."""

from collections.abc import Mapping


def _media_type(headers: Mapping[str, str]) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def is_event_stream(headers: Mapping[str, str]) -> bool:
    """Whether the body is a stream of events."""
    return _media_type(headers) == "text/event-stream"


def is_json(headers: Mapping[str, str]) -> bool:
    """Whether the body is one JSON value."""
    kind = _media_type(headers)
    return kind == "application/json" or kind.endswith("+json")


def is_html(headers: Mapping[str, str], body: bytes) -> bool:
    """Whether the body is a page for people, as an edge server sends it; body is decoded."""
    return _media_type(headers) in {"text/html", "application/xhtml+xml"} or body.lstrip()[:1] == b"<"
