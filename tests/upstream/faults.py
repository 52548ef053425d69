"""Answers that break HTTP or the connection."""

from __future__ import annotations

from dataclasses import replace

from tests.upstream.answer import Answer, raw
from tests.upstream.messages import ok, ok_json
from tests.upstream.steps import End, Reset, Silence


def drop(how: str = "fin") -> Answer:
    """The connection ends after the request, before any byte: "fin" or "reset" (row 3)."""
    return raw(f"drop {how}", Reset() if how == "reset" else End())


def stale(how: str = "fin") -> Answer:
    """An idle connection that ends as the next request's first bytes arrive (row 2); the body is not read."""
    return raw(f"stale {how}", Reset() if how == "reset" else End()).at_once()


def silent() -> Answer:
    """The request is taken and nothing ever comes back."""
    return raw("silent", Silence())


def garbage(data: bytes = b"\x16\x03\x01\x02\x00 this is not HTTP\r\n\r\n") -> Answer:
    """Bytes that are not HTTP, then the end."""
    return raw("garbage", data, End())


def torn_head() -> Answer:
    """Half a response head, then the end."""
    return raw("torn head", b"HTTP/1.1 200 OK\r\ncontent-type: text/eve", End())


def two_lengths() -> Answer:
    """A head with content-length and with chunked, which a careful proxy refuses."""
    head = (
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    return raw("two lengths", head, b"2\r\n{}\r\n0\r\n\r\n", End())


def torn_chunk() -> Answer:
    """A stream whose second chunk promises more bytes than come."""
    good = ok()
    first = next(part for part in good.parts if isinstance(part, bytes))
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    return raw("torn chunk", head, b"%x\r\n%b\r\n" % (len(first), first), b"400\r\nevent: pi", End())


def bad_chunk() -> Answer:
    """A stream whose second chunk has no length."""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    return raw("bad chunk", head, b"6\r\n: hi\n\n\r\n", b"zz\r\nnothing", End())


def json_cut(how: str = "reset") -> Answer:
    """A whole JSON answer that breaks in the middle of its body: "reset" or "fin"."""
    answer = ok_json("A sentence that will not be finished.")
    return answer.cut_at(len(answer.body) // 2, "reset" if how == "reset" else "fin").named(f"json cut {how}")


def short_of_its_length(by: int = 50) -> Answer:
    """A JSON answer whose content-length promises more than comes."""
    answer = ok_json()
    return answer.claiming(len(answer.body) + by).named("length lies")


def past_its_length(by: int = 10) -> Answer:
    """A JSON answer with more bytes than its content-length says."""
    answer = ok_json()
    lying = answer.claiming(len(answer.body) - by)
    return replace(lying, parts=(*lying.parts, End())).named("length lies")


def broken_json() -> Answer:
    """A whole 200 that calls itself JSON and is none."""
    headers = (("content-type", "application/json"),)
    return Answer(label="broken json", headers=headers, parts=(b'{"type":"message","content":[',))


def html_200() -> Answer:
    """A 200 page of HTML, as a captive portal answers."""
    page = b"<!DOCTYPE html><html><body>Please sign in to the guest network.</body></html>"
    return Answer(label="200 html", headers=(("content-type", "text/html; charset=utf-8"),), parts=(page,))


def undecodable() -> Answer:
    """A stream that claims gzip and is not."""
    return ok("Not gzip at all.").having(("content-encoding", "gzip")).named("200 not gzip")


def early(answer: Answer) -> Answer:
    """That answer while the request's body is still being sent, then the end of the connection."""
    return replace(answer, early=True, parts=(*answer.parts, End()))
