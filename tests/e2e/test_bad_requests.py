"""Requests as no well-behaved client sends them: each has a clear outcome, and none harms an account or the next request."""

from __future__ import annotations

import json
import socket
from dataclasses import replace

import pytest

from tests.e2e.conftest import Make
from tests.e2e.pool import Pool
from tests.upstream import bad_request

MIB = 1024 * 1024

BODIES = {
    "empty": b"",
    "words": b"this is no JSON",
    "bytes": bytes(range(256)) * 8,
    "torn": b'{"model":"claude-opus-5-5","messages":[{"role":"us',
    "an array": b"[1,2,3]",
    "a text": b'"claude-opus-5-5"',
    "no model": b'{"messages":[{"role":"user","content":"hi"}]}',
    "a model that is no text": b'{"model":{"a":[7]},"messages":"hi","metadata":7,"system":{}}',
    "two models": b'{"model":"claude-opus-5-5","model":"claude-haiku-5-5","messages":[]}',
    "an endless name": b'{"model":"%s"}' % (b"x" * 100_000),
    "half a letter": b'{"model":"\\ud83d","messages":[{"role":"user","content":"\\ud83d"}]}',
    "a number that is none": b'{"model":"claude-opus-5-5","max_tokens":NaN}',
    "a pit": b'{"model":"claude-opus-5-5","messages":%s%s}' % (b"[" * 100_000, b"]" * 100_000),
}


@pytest.mark.parametrize("kind", BODIES)
def test_a_body_that_makes_no_sense_is_the_provider_s_to_refuse(shared: Pool, kind: str) -> None:
    """It goes out byte for byte on an account, the refusal comes back as it is, and nobody is blamed."""
    refused = bad_request("this makes no sense")
    shared.upstream.script("work", refused)
    request = replace(shared.turn(), body=BODIES[kind])
    with shared.client() as client:
        reply = client.ask(request)
        assert (reply.status, reply.end, reply.body) == (400, "whole", refused.body)
        assert client.ask(shared.turn()).status == 200
    assert shared.upstream.requests.accounts() == ["work", "work"]
    shared.check(shared.upstream.requests[0], request)


def test_a_client_that_repeats_a_bad_request_harms_no_account(shared: Pool) -> None:
    """Five times the same fault of the client: relayed each time, no hop, no hold, and the account stays healthy."""
    shared.upstream.script("work", *[bad_request("No tool output found for function call c1")] * 5)
    for _ in range(5):
        reply = shared.ask(shared.turn(session="the same"))
        assert (reply.status, reply.error[0]) == (400, "invalid_request_error")
    assert shared.upstream.requests.accounts() == ["work"] * 5
    assert shared.proxy.account("work")["state"] == "healthy"


def test_own_answer_d_bodies_of_every_size_the_provider_takes_are_served(make: Make) -> None:
    """With the settings as they are, 11 MB and 33 MiB go through to the byte; 65 MiB is told so, and the next is served."""
    pool = make("work", settings={"limits": {"body_read_s": 60}})
    with pool.client() as client:
        for size in (11_657_345, 33 * MIB):
            request = replace(pool.turn(), body=json.dumps({"model": "claude-opus-5-5"}).encode().ljust(size))
            assert client.ask(request).status == 200
            pool.saw(request, "work")
            pool.upstream.requests.clear()
        reply = client.ask(replace(pool.turn(), body=b" " * (65 * MIB)))
        assert (reply.status, reply.error[0]) == (413, "request_too_large")
        assert "64" in reply.error[1]
        assert len(pool.upstream.requests) == 0
        assert client.ask(pool.turn()).status == 200
    line = pool.proxy.request_line(3)
    assert (line["status"], line["ended"]) == (413, "refused")


def test_an_offer_to_speak_http2_is_passed_over(shared: Pool) -> None:
    """The body that follows in a segment of its own is read by the rules of HTTP/1.1, and the offer goes no further."""
    offer = (("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", "h2c"), ("HTTP2-Settings", "AAMAAABkAAQCAAAA"))
    for request in (shared.turn().having(*offer), replace(shared.turn().having(*offer), chunked=1000)):
        shared.upstream.requests.clear()
        with shared.client() as client:
            client.send_head(request)
            shared.proxy.status()  # a whole conversation later
            client.write(b"".join(request.pieces()))
            assert client.begin().rest().text == "This is work speaking."
            assert client.ask(shared.turn()).status == 200
        received = shared.upstream.requests[0]
        shared.check(received, request)
        assert not {"upgrade", "http2-settings"} & {name.lower() for name in received.names()}


def test_a_head_that_comes_byte_by_byte_is_a_head(shared: Pool) -> None:
    """However a request is cut on its way, it is the same request."""
    request = replace(shared.turn(), chunked=700)
    data = request.head(shared.proxy.url.removeprefix("http://")) + b"".join(request.pieces())
    with shared.client() as client:
        for at in range(400):
            client.write(data[at : at + 1])
        client.write(data[400:])
        assert client.begin().rest().status == 200
    shared.saw(request, "work")


GARBAGE = {
    "no request line": b"GET\r\n\r\n",
    "another protocol": b"SSH-2.0-OpenSSH_9.9\r\n\r\n",
    "a length below nothing": b"POST /v1/messages HTTP/1.1\r\nHost: HOST\r\nContent-Length: -5\r\n\r\n",
    "two lengths": b"POST /v1/messages HTTP/1.1\r\nHost: HOST\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde",
    "a length and chunks": (
        b"POST /v1/messages HTTP/1.1\r\nHost: HOST\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    ),
    "a chunk without a length": (
        b"POST /v1/messages HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n"
    ),
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00",
}


@pytest.mark.parametrize("kind", GARBAGE)
def test_what_is_no_request_ends_its_own_connection_and_nothing_else(shared: Pool, kind: str) -> None:
    """A head that could be read in two ways is refused or its connection closed; nothing of it goes upstream."""
    host = shared.proxy.url.removeprefix("http://")
    with socket.create_connection(tuple(host.split(":")), timeout=5) as peer:  # type: ignore[arg-type]
        peer.sendall(GARBAGE[kind].replace(b"HOST", host.encode()))
        answer = b"".join(iter(lambda: peer.recv(4096), b""))
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")
    assert shared.ask(shared.turn()).status == 200
    assert shared.upstream.requests.accounts() == ["work"]
