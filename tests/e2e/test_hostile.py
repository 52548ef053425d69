"""Peers that do what HTTP allows and others forget, and some that do what it forbids: each has a clear outcome."""

from __future__ import annotations

import json
import socket
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.e2e.client import Client, Request
from tests.e2e.conftest import Make
from tests.e2e.harness import Member, Proxy
from tests.e2e.pool import Pool, about
from tests.upstream import Answer, Upstream, bad_request, limit, ok, overloaded, plant, raw, throttle

PIECES = json.dumps({"type": "message", "content": [{"type": "text", "text": "whole"}]}).encode()
UNIFIED = "anthropic-ratelimit-unified-"
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n" % (len(PIECES), PIECES)


def _whole(*before: bytes) -> tuple[bytes, ...]:
    return (*before, HEAD + b"content-length: %d\r\n\r\n%s" % (len(PIECES), PIECES))


@pytest.mark.parametrize(
    "parts",
    [
        _whole(b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"),
        _whole(b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 102 Processing\r\n\r\n"),
        (CHUNKED + b"x-check: 1\r\n\r\n",),
    ],
    ids=["103", "100 and 102", "trailers"],
)
def test_an_answer_with_frills_is_the_answer(shared: Pool, parts: tuple[bytes, ...]) -> None:
    """Interim heads before the real one and trailers behind it cost the client nothing."""
    shared.upstream.script("work", raw("frills", *parts), ok("Next."))
    with shared.client() as client:
        reply = client.ask(shared.turn(stream=False))
        assert (reply.status, reply.end, reply.text) == (200, "whole", "whole")
        assert client.ask(shared.turn()).text == "Next."


def test_a_request_with_trailers_is_served(shared: Pool) -> None:
    """A chunked request whose body ends in trailers is a request."""
    turn = shared.turn()
    host = shared.proxy.url.removeprefix("http://")
    head = turn.head(host).replace(b"Content-Length: %d\r\n" % len(turn.body), b"Transfer-Encoding: chunked\r\n")
    assert b"chunked" in head
    with shared.client() as client:
        client.write(head + b"%x\r\n%s\r\n0\r\nX-Check: 1\r\n\r\n" % (len(turn.body), turn.body))
        assert client.begin().rest().status == 200


def test_an_upgrade_that_nobody_asked_for_is_no_answer(shared: Pool) -> None:
    """A 101 to a turn is garbage: row 3."""
    shared.upstream.script(
        "work", raw("101", b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n")
    )
    reply = shared.ask(shared.turn())
    assert (reply.status, reply.error[0]) == (502, "api_error")


def test_half_an_emoji_is_no_broken_answer(shared: Pool) -> None:
    """A JSON answer cut inside an emoji by the model is whole, and is not paid twice."""
    body = b'{"type":"message","content":[{"type":"text","text":"half \\ud83d"}]}'
    shared.upstream.script("work", raw("half", HEAD + b"content-length: %d\r\n\r\n%s" % (len(body), body)))
    reply = shared.ask(shared.turn(stream=False))
    assert reply.status == 200
    assert shared.upstream.requests.accounts() == ["work"]


@pytest.mark.parametrize("answer", [bad_request(), overloaded().having(("x-should-retry", "false"))])
def test_a_relayed_refusal_is_framed_once(make: Make, answer: Answer) -> None:
    """A refusal that came in chunks has one framing when it is relayed: strict clients refuse two."""
    pool = make("work", settings={"retry": {"overloaded": []}})
    pool.upstream.script("work", answer.framed("chunked"))
    reply = pool.ask(pool.turn())
    names = [name.lower() for name, _ in reply.headers]
    assert names.count("content-length") + names.count("transfer-encoding") == 1
    assert reply.status == answer.status
    assert reply.json()["type"] == "error"


def test_a_listener_may_be_ipv6(make: Make) -> None:
    """The address of the loopback's other family works like the first."""
    pool = make("work", settings={"listen": {"claude": "[::1]:0"}})
    assert pool.proxy.url.startswith("http://[::1]:")
    assert pool.ask(pool.turn()).status == 200


def test_a_target_with_another_host_goes_to_the_provider_as_a_path(shared: Pool) -> None:
    """The upstream never sees an address that the client made up, nor a Connection header that names the credential."""
    turn = (
        shared.turn(path="http://evil.example/v1/messages")
        .without("Connection")
        .having(("Connection", "authorization"))
    )
    assert shared.ask(turn).status == 200
    (received,) = shared.upstream.requests
    assert received.path == "/v1/messages"
    assert ("Connection", "authorization") not in received.headers
    assert "evil.example" not in repr(received.headers)


@pytest.mark.parametrize(
    "line", ["Authorization Bearer {}", "Authorization : Bearer {}", "X-Api_Key: {}", "X-A: a\r\n Authorization: {}"]
)
def test_a_malformed_credential_is_written_nowhere(make: Make, line: str) -> None:
    """However a header is torn or spelt, what it carries is in no log, no flow file, and at no upstream of the pool."""
    pool = make("work", args=("-w", "flows"))
    secret = plant("torn")
    host = pool.proxy.url.removeprefix("http://")
    head = pool.turn().head(host).replace(b"\r\n\r\n", b"\r\n" + line.format(secret).encode() + b"\r\n\r\n")
    with socket.create_connection(host.split(":")) as peer:  # type: ignore[arg-type]
        peer.sendall(head + pool.turn().body)
        assert peer.recv(4096)
    pool.settle()
    pool.proxy.stop()
    assert pool.proxy.leaks(secret) == []
    assert not [one for one in pool.upstream.requests if secret in repr(one.headers)]
    pool.proxy.mark()
    pool.proxy.start()


JUNK = ["NaN", "inf", "-inf", "-5", "1e999", "99999999999", "4102444800", "", "soon", "0x10", "\xb2", "1,2", "[]",
        "Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 99999 07:28:00 GMT", "9" * 400]  # fmt: skip


def test_usage_headers_that_make_no_sense_count_as_not_reported(shared: Pool) -> None:
    """Whatever a good answer says of its windows, it is served, and the status stays whole JSON with sound numbers."""
    for junk in JUNK:
        fields = [f"{key}-{name}" for key in ("5h", "7d", "7d_oi", "0h") for name in ("utilization", "reset", "status")]
        told = tuple((UNIFIED + name, junk) for name in (*fields, "status", "reset", "representative-claim"))
        shared.upstream.script("work", ok(headers=(*told, ("retry-after", junk))))
        assert shared.ask(shared.turn()).status == 200, junk
        account = json.loads(json.dumps(shared.proxy.account("work"), allow_nan=False))
        assert (account["state"], account["holds"]) == ("healthy", []), junk


@pytest.mark.parametrize("junk", JUNK)
def test_a_retry_after_that_makes_no_sense_is_none(shared: Pool, junk: str) -> None:
    """A throttle with it is asked again after our own wait; never at once, never for ever, and its end is a minute at most."""
    shared.upstream.script("work", *[throttle(junk)] * 3)
    begun = time.monotonic()
    reply = shared.ask(shared.turn())
    assert 0.1 <= time.monotonic() - begun < 3
    assert shared.upstream.requests.accounts() == ["work"] * 3
    assert reply.status == 429
    assert 0 <= int(reply.header("retry-after") or 0) <= 60


def test_a_reset_that_makes_no_sense_holds_for_what_the_rules_say(make: Make) -> None:
    """A limit whose resets and retry-after are junk holds its account, for five minutes; the turn moves on."""
    names = [f"n{at}" for at in range(len(JUNK))]
    pool = make(*names, "last")
    for name, junk in zip(names, JUNK, strict=True):
        answer = limit("7d", retry_after=junk)
        told = tuple((key, junk if key.endswith("-reset") else value) for key, value in answer.headers)
        pool.upstream.script(name, replace(answer, headers=told))
    assert pool.ask(pool.turn()).text == "This is last speaking."
    assert pool.holds() == {name: [("account", 13, about(300))] for name in names}


def test_mitmproxys_own_streaming_and_caps_change_nothing(make: Make) -> None:
    """Options that a user's mitmproxy config often has do not take the body away from the pool."""
    pool = make("work", "home", args=("--set", "stream_large_bodies=1", "--set", "body_size_limit=100"))
    pool.upstream.script("work", limit("7d"))
    assert pool.ask(pool.turn()).text == "This is home speaking."


def test_own_answer_a_a_request_does_not_hammer_an_account_that_never_recovers(make: Make) -> None:
    """An account whose announced recovery is always a moment away is asked a few times, further and further apart."""
    pool = make("work", settings={"wait": {"max": 4, "margin_s": 1}})
    pool.upstream.default("work", limit("5h", resets_in=0.2, unit="ms"))
    reply = pool.ask(pool.turn(), timeout=20)
    assert reply.status == 429
    assert 2 <= len(pool.upstream.requests) <= 5


def test_a_second_proxy_on_one_home_is_refused(make: Make) -> None:
    """It says who runs and how to stop it, ends with 2, and the first serves on."""
    pool = make("work")
    first = pool.proxy
    second = Proxy(first.folder, pool.upstream, [Member(name="work", secret=plant("other"))])
    second._written = True
    done = second.exits()
    assert done.code == 2
    assert f"pid {first.pid}" in done.err
    assert "Traceback" not in done.err
    assert pool.ask(pool.turn()).status == 200


def test_an_empty_accounts_file_is_no_empty_pool(tmp_path: Path) -> None:
    """A file that a crash left without a byte does not turn the client's own login on."""
    with Upstream({}) as upstream:
        proxy = Proxy(tmp_path, upstream)
        proxy.write()
        (proxy.home / "accounts.toml").write_bytes(b"")
        done = proxy.exits()
    assert done.code == 2
    assert "accounts.toml" in done.err


def test_pipelined_requests_of_two_kinds_stay_in_step(shared: Pool) -> None:
    """A HEAD, a turn and a pass-through in one write are answered in order on one connection."""
    head = Request(method="HEAD", path="/api/hello", headers=())
    models = Request(method="GET", path="/v1/models", headers=(("Authorization", f"Bearer {shared.token}"),))
    with Client(shared.proxy.url) as client:
        client.send(head, shared.turn(), models)
        assert client.begin(method="HEAD").rest().status == 200
        assert client.begin().rest().text == "This is work speaking."
        assert client.begin().rest().status == 200
