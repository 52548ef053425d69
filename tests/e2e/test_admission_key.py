"""`[admit] key`: who shows it is let in, from this machine and from others; and the control plane that no web page reaches (X113)."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.e2e.client import Client, Reply, Request
from tests.e2e.conftest import Make
from tests.e2e.pool import Pool, open_pool, ranked

HEADER = "X-Flowpool-Key"
KEYED = {"admit": {"key": True}}


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    """A pool that asks for its key, reached by other machines too; each test leaves it as it was."""
    settings: dict[str, dict[str, Any]] = {**KEYED, "listen": {"claude": "0.0.0.0:0"}}
    with open_pool(tmp_path_factory.mktemp("keyed"), ranked("work"), settings=settings) as pool:
        pool.proxy.url = pool.proxy.url.replace("0.0.0.0", "127.0.0.1")
        yield pool


def key_of(pool: Pool, name: str = "client.key") -> str:
    """What is to be shown."""
    return (pool.proxy.home / name).read_text(encoding="utf-8").strip()


def refused(reply: Reply) -> str:
    """Fail unless this is own answer E, which no client takes for the end of its login; its message."""
    kind, message = reply.error
    assert (reply.status, reply.end, kind) == (400, "whole", "invalid_request_error")
    assert reply.header("x-should-retry") == "false"
    return message


def test_own_answer_e_without_the_clients_key(keyed: Pool) -> None:
    """Whatever is asked, pooled or not, upgrades too: refused with the commands that hand the key on; nothing goes upstream."""
    keyed.upstream.reset()
    upgrade = (
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Key", "x"),
        ("Sec-WebSocket-Version", "13"),
    )
    asked = [keyed.turn(), Request(method="GET", path="/v1/models"), Request(method="GET", path="/ws", headers=upgrade)]
    for request in asked:
        for shown in ((), ((HEADER, ""),), ((HEADER, "wrong"),), (("Authorization", f"Bearer {key_of(keyed)}"),)):
            message = refused(keyed.ask(replace(request, headers=(*request.headers, *shown))))
            assert "flowpool run" in message
            assert "flowpool env" in message
    assert len(keyed.upstream.requests) == 0


@pytest.mark.parametrize("name", ["client.key", "control.key"])
def test_who_shows_a_key_is_served_and_it_goes_no_further(keyed: Pool, name: str) -> None:
    """Either key; pooled or passed on, the upstream never sees it, and no log does."""
    keyed.upstream.reset()
    key = key_of(keyed, name)
    turn = keyed.turn()
    assert keyed.ask(turn.having((HEADER, key))).status == 200
    assert keyed.ask(Request(method="GET", path="/v1/models", headers=(*turn.headers, (HEADER, key)))).status == 200
    assert keyed.upstream.requests.accounts() == ["work", "client"]
    assert key not in repr([one.headers for one in keyed.upstream.requests])
    assert keyed.proxy.leaks(key) == [f"flowpool/{name}"]


def test_the_clients_key_opens_nothing_of_ours(keyed: Pool) -> None:
    """Nothing under /_flowpool/ but health, which needs none; the file is ours alone."""
    key = key_of(keyed)
    assert keyed.ask(Request(method="GET", path="/_flowpool/health")).status == 200
    for method, path in (
        ("GET", "status"),
        ("GET", "requests"),
        ("GET", "why?id=last"),
        ("POST", "pin"),
        ("POST", "reload"),
    ):
        request = Request(method=method, path=f"/_flowpool/{path}", headers=((HEADER, key),), body=b"{}")
        assert "control.key" in refused(keyed.ask(request))
    assert (keyed.proxy.home / "client.key").stat().st_mode & 0o777 == 0o600


def _own_number() -> str:
    """The number of this machine in its network; asking by it, a program here is another machine to the proxy."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        number: str = probe.getsockname()[0]
    return number


def test_another_machine_is_let_in_by_the_key(keyed: Pool) -> None:
    """By the number that it reached us by, and no other name; without the key it is not, not even to ask for health."""
    keyed.upstream.reset()
    number, port = _own_number(), keyed.proxy.url.rpartition(":")[2]
    shown = keyed.turn().having((HEADER, key_of(keyed)))
    with Client(f"http://{number}:{port}") as client:
        assert client.ask(shown).status == 200
        refused(client.ask(keyed.turn()))
        refused(client.ask(Request(method="GET", path="/_flowpool/health")))
        refused(client.ask(shown.having(("Host", f"evil.example:{port}"))))
        refused(client.ask(shown.having(("Origin", f"http://{number}.evil.example:{port}"))))
    assert keyed.upstream.requests.accounts() == ["work"]
    assert "over plain http" in keyed.proxy.log_text()


def test_without_the_setting_no_key_is_made(make: Make) -> None:
    """Nor asked for."""
    pool = make("work")
    assert pool.ask(pool.turn()).status == 200
    assert not (pool.proxy.home / "client.key").exists()


def test_the_key_stays_over_a_restart(keyed: Pool, make: Make) -> None:
    """Clients that were launched before go on."""
    pool = make("work", settings=KEYED)
    before = key_of(pool)
    pool.proxy.restart()
    assert key_of(pool) == before != key_of(keyed)
    assert pool.ask(pool.turn().having((HEADER, before))).status == 200


# -- X113: the control plane ---------------------------------------------------------------------------------------


def _control(
    pool: Pool, *headers: tuple[str, str], method: str = "GET", path: str = "status", body: bytes = b""
) -> Reply:
    """A question to the control plane with its key."""
    return pool.ask(
        Request(
            method=method,
            path=f"/_flowpool/{path}",
            headers=((HEADER, key_of(pool, "control.key")), *headers),
            body=body,
        )
    )


@pytest.mark.parametrize(
    "header",
    [
        ("Host", "evil.example:3456"),
        ("Host", "evil.example:PORT"),
        ("Host", "127.0.0.1.evil.example:PORT"),
        ("Origin", "http://127.0.0.1.evil.example"),
        ("Origin", "http://127.0.0.1.evil.example:PORT"),
        ("Origin", "http://localhost"),
        ("Origin", "null"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ],
)  # fmt: skip
def test_x113_no_page_reads_or_switches_anything(shared: Pool, header: tuple[str, str]) -> None:
    """X113: even with the key, what a rebound name or another page asks for is refused, and no pin is set."""
    name, value = header[0], header[1].replace("PORT", shared.proxy.url.rpartition(":")[2])
    wish = json.dumps({"accounts": [shared.proxy.members["home"].id]}).encode()
    assert _control(shared).status == 200
    for reply in (
        _control(shared, (name, value)),
        _control(shared, (name, value), path="requests"),
        _control(shared, (name, value), method="POST", path="pin", body=wish),
        _control(shared, (name, value), method="POST", path="reload", body=b"{}"),
    ):
        refused(reply)
        assert reply.header("access-control-allow-origin") is None
    assert shared.proxy.status()["pins"] == []


def test_x113_the_key_is_taken_from_its_header_alone(shared: Pool) -> None:
    """X113: not from the address, which logs and histories keep, nor from a body, nor from a cookie, nor as a login."""
    key = key_of(shared, "control.key")
    for request in (
        Request(method="GET", path=f"/_flowpool/status?x-flowpool-key={key}"),
        Request(method="GET", path=f"/_flowpool/status?key={key}"),
        Request(method="GET", path=f"/_flowpool/status;{HEADER}={key}"),
        Request(method="GET", path="/_flowpool/status", body=json.dumps({"key": key}).encode()),
        Request(method="POST", path="/_flowpool/reload", body=json.dumps({"x-flowpool-key": key}).encode()),
        Request(method="GET", path="/_flowpool/status", headers=(("Cookie", f"{HEADER}={key}"),)),
        Request(method="GET", path="/_flowpool/status", headers=(("Authorization", f"Bearer {key}"),)),
    ):
        assert shared.ask(request).status in (400, 404)


@pytest.mark.parametrize("path", ["status", "requests", "reload", "lift", "pin"])
def test_x113_a_page_may_not_ask_beforehand(shared: Pool, path: str) -> None:
    """X113: a browser's preflight is answered with no permission, so what would need one is never sent."""
    reply = shared.ask(
        Request(
            method="OPTIONS",
            path=f"/_flowpool/{path}",
            headers=(("Origin", "http://evil.example"), ("Access-Control-Request-Headers", HEADER.lower())),
        )
    )
    refused(reply)
    assert not [name for name, _ in reply.headers if name.lower().startswith("access-control")]


BODY = b'{"model":"claude-haiku-4-5","max_tokens":1,"messages":[]}'
ROUNDABOUT = [  # how the key is left out, or shown where it does not count
    ("twice", b"POST /v1/messages HTTP/1.1", b"x-flowpool-key: KEY\r\nX-Flowpool-Key: KEY\r\n"),
    ("twice, once wrong", b"POST /v1/messages HTTP/1.1", b"x-flowpool-key: wrong\r\nX-FLOWPOOL-KEY: KEY\r\n"),
    ("underscores", b"POST /v1/messages HTTP/1.1", b"x_flowpool_key: KEY\r\n"),
    ("another field's", b"POST /v1/messages HTTP/1.1", b"proxy-authorization: Bearer KEY\r\n"),
    ("http/1.0", b"POST /v1/messages HTTP/1.0", b""),
    ("absolute", b"POST http://HOST/v1/messages HTTP/1.1", b""),
    ("absolute, another's", b"POST http://api.anthropic.com/v1/messages HTTP/1.1", b""),
    ("in the address", b"POST /v1/messages?x-flowpool-key=KEY HTTP/1.1", b""),
    ("below health", b"POST /_flowpool/health/../../v1/messages HTTP/1.1", b""),
    ("beside health", b"POST /v1/messages?/_flowpool/health HTTP/1.1", b""),
    ("a tunnel", b"CONNECT api.anthropic.com:443 HTTP/1.1", b"x-flowpool-key: KEY\r\n"),
]


@pytest.mark.parametrize(("start", "extra"), [one[1:] for one in ROUNDABOUT], ids=[one[0] for one in ROUNDABOUT])
def test_there_is_no_way_round_the_key(keyed: Pool, start: bytes, extra: bytes) -> None:
    """However the request is written, nothing is asked upstream."""
    keyed.upstream.reset()
    host, key = keyed.proxy.url.removeprefix("http://").encode(), key_of(keyed).encode()
    head = b"%s\r\nhost: HOST\r\n%scontent-length: %d\r\n\r\n" % (start, extra, len(BODY))
    with keyed.client() as client:
        client.write(head.replace(b"HOST", host).replace(b"KEY", key) + (b"" if b"CONNECT" in start else BODY))
        assert client.begin().rest().status in {400, 404}
    assert len(keyed.upstream.requests) == 0


def test_a_key_behind_the_body_comes_too_late(keyed: Pool) -> None:
    """A trailer is no header: it lets nobody in, and of who is in already it goes no further."""
    keyed.upstream.reset()
    host, key = keyed.proxy.url.removeprefix("http://").encode(), key_of(keyed).encode()
    for shown, status in ((b"", 400), (b"x-flowpool-key: %s\r\n" % key, 200)):
        head = b"POST /v1/messages HTTP/1.1\r\nhost: %s\r\n%stransfer-encoding: chunked\r\n\r\n" % (host, shown)
        body = b"%x\r\n%s\r\n0\r\nx-flowpool-key: %s\r\n\r\n" % (len(BODY), BODY, key)
        with keyed.client() as client:
            client.write(head + body)
            assert client.begin().rest().status == status
    assert key.decode() not in repr([one.headers for one in keyed.upstream.requests])
    assert len(keyed.upstream.requests) == 1
