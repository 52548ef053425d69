"""What kind of body an answer announces."""

import pytest

from providers import media


@pytest.mark.parametrize(
    ("kind", "stream", "json", "html"),
    [
        ("text/event-stream; charset=utf-8", True, False, False),
        ("Application/JSON", False, True, False),
        ("application/problem+json", False, True, False),
        ("text/html; charset=UTF-8", False, False, True),
        ("text/plain", False, False, False),
        ("", False, False, False),
    ],
)
def test_kinds(kind: str, stream: bool, json: bool, html: bool) -> None:
    """The media type decides, without its parameters and in any case."""
    headers = {"content-type": kind}
    assert (media.is_event_stream(headers), media.is_json(headers), media.is_html(headers, b"")) == (stream, json, html)


def test_a_page_without_a_type() -> None:
    """A body that begins with a tag is a page, whatever it was called."""
    assert media.is_html({}, b"\n <!doctype html>")
    assert not media.is_html({}, b'{"type":"error"}')
