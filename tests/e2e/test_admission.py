"""Own answers D, E and F of docs/verdicts.md: what is not let in, and what is not served."""

from __future__ import annotations

import socket
import threading
from dataclasses import replace

import pytest

from tests.e2e.client import Client, Reply, Request
from tests.e2e.conftest import Make
from tests.e2e.pool import Pool
from tests.upstream import closed_port

MIB = 1024 * 1024


def _refused(reply: Reply) -> str:
    """Fail unless this is own answer E; its message."""
    kind, message = reply.error
    assert (reply.status, reply.end, kind) == (400, "whole", "invalid_request_error")
    assert reply.header("x-should-retry") == "false"
    return message


# -- E -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:3456", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example", "PORT.", "evil@PORT", "PORT@evil.example", ""],
)  # fmt: skip
def test_own_answer_e_for_a_foreign_host(shared: Pool, host: str) -> None:
    """X113: a Host that is not one of flowpool's is refused with the address to set, on every path; nothing goes upstream."""
    host = host.replace("PORT", shared.proxy.url.removeprefix("http://"))
    for request in (shared.turn(), Request(method="GET", path="/_flowpool/health"), Request(method="GET", path="/x")):
        message = _refused(shared.ask(request.having(("Host", host))))
        assert shared.proxy.url in message.replace("localhost", "127.0.0.1")
    assert len(shared.upstream.requests) == 0


def test_own_hosts_are_served(shared: Pool) -> None:
    """127.0.0.1, localhost and [::1] with our port are flowpool's names, in any case; the upstream gets its own Host."""
    port = shared.proxy.url.rpartition(":")[2]
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LocalHost:{port}", f"[::1]:{port}"):
        assert shared.ask(shared.turn().having(("Host", host))).status == 200
    assert {one.header("host") for one in shared.upstream.requests} == {f"127.0.0.1:{shared.upstream.port}"}


@pytest.mark.parametrize(
    "header",
    [
        ("Origin", "https://evil.example"),
        ("Origin", "null"),
        ("Origin", "http://127.0.0.1.evil.example"),
        ("Origin", "http://PORT.evil.example"),
        ("Origin", "http://PORT@evil.example"),
        ("Origin", "https://PORT"),
        ("Sec-Fetch-Site", "Cross-Site"),
        ("Sec-Fetch-Site", "none, cross-site"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ],
)
def test_own_answer_e_for_another_web_page(shared: Pool, header: tuple[str, str]) -> None:
    """X113: a page of another origin may ask for nothing, not even health."""
    header = header[0], header[1].replace("PORT", shared.proxy.url.removeprefix("http://"))
    for request in (shared.turn(), Request(method="GET", path="/_flowpool/health")):
        _refused(shared.ask(request.having(header)))
    assert len(shared.upstream.requests) == 0


@pytest.mark.parametrize("name", ["Origin", "Sec-Fetch-Site"])
def test_own_answer_e_for_another_web_page_behind_a_good_word(shared: Pool, name: str) -> None:
    """A second field of the name does not hide behind one that would be let in."""
    good = {"Origin": shared.proxy.url, "Sec-Fetch-Site": "none"}[name]
    turn = shared.turn()
    _refused(shared.ask(replace(turn, headers=((name, good), *turn.headers, (name, "https://evil.example")))))
    assert len(shared.upstream.requests) == 0


def test_own_answer_e_without_the_key(shared: Pool) -> None:
    """Health is open; status and everything else under /_flowpool/ needs the key of control.key."""
    health = shared.ask(Request(method="GET", path="/_flowpool/health"))
    assert (health.status, health.end) == (200, "whole")
    for key in ((), (("x-flowpool-key", "wrong"),), (("x-flowpool-key", ""),)):
        for path in ("/_flowpool/status", "/_flowpool/other"):
            message = _refused(shared.ask(Request(method="GET", path=path, headers=key)))
            assert "x-flowpool-key" in message
    assert len(shared.upstream.requests) == 0


def test_own_answer_e_for_a_tunnel_and_another_mode(make: Make) -> None:
    """A regular proxy beside ours serves nobody: neither a tunnel nor an absolute address leaves the machine."""
    other = f"127.0.0.1:{closed_port()}"
    pool = make("work", args=("--mode", "reverse:UPSTREAM@127.0.0.1:0", "--mode", f"regular@{other}"))
    asked = [
        Request(method="CONNECT", path="api.anthropic.com:443"),
        Request(method="GET", path=f"{pool.upstream.url}/v1/models"),
        pool.turn(path=f"{pool.upstream.url}/v1/messages"),
    ]
    for request in asked:
        with Client(f"http://{other}") as client:
            _refused(client.ask(request))
    assert len(pool.upstream.requests) == 0


def test_own_answer_e_for_a_tunnel_through_our_own_mode(shared: Pool) -> None:
    """CONNECT is refused whatever it asks for; nothing goes upstream."""
    reply = shared.ask(Request(method="CONNECT", path="api.anthropic.com:443"))
    assert reply.status == 400
    assert len(shared.upstream.requests) == 0


def test_own_answer_e_for_another_machine(make: Make) -> None:
    """A peer that is not this machine's loopback is refused even where flowpool listens for all."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        own = probe.getsockname()[0]
    pool = make("work", settings={"listen": {"claude": "0.0.0.0:0"}})
    port = pool.proxy.url.rpartition(":")[2]
    pool.proxy.url = f"http://127.0.0.1:{port}"
    with Client(f"http://{own}:{port}") as client:
        message = _refused(client.ask(pool.turn().having(("Host", f"127.0.0.1:{port}"))))
    assert "127.0.0.1" in message
    assert len(pool.upstream.requests) == 0
    assert pool.ask(pool.turn()).status == 200


# -- F -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/_flowpool/", "/_flowpool", "/_flowpool/nothing", "/%5fflowpool/status", "/%255Fflowpool/x", "//_flowpool/status",
        "/x/../_flowpool/health", "/_FLOWPOOL/status", "/_flowpool/status/..", "/_flowpool%2fstatus", "/./_flowpool?x=/v1/messages",
        "/_flowpool/..;", "/_flowpool/..;/status", "/%2e%2e/_flowpool/status", "/v1/messages/../../_flowpool/status", "/\\_flowpool/status",
    ],
)  # fmt: skip
def test_own_answer_f_for_what_is_not_ours_under_our_prefix(shared: Pool, path: str) -> None:
    """However it is written, a path under /_flowpool/ is answered here, 404 with the key, and is never forwarded."""
    key = (shared.proxy.home / "control.key").read_text().strip()
    for method in ("GET", "POST"):
        reply = shared.ask(Request(method=method, path=path, headers=(("x-flowpool-key", key),)))
        assert (reply.status, reply.end, reply.error[0]) == (404, "whole", "not_found_error")
    assert len(shared.upstream.requests) == 0


@pytest.mark.parametrize(
    "path",
    [
        "/v1/v1/messages", "/api/v1/messages?beta=true", "/x/v1/messages/count_tokens", "//v1/messages", "/v1/../v1/messages",
        "/v1/%2e%2e/v1/messages", "/v1/messages/", "/V1/messages", "/v1/%6dessages", "/\\v1\\messages", "/v1/messages;x",
        "/v1/messages%3fbeta=true", "/v1/messages/batches/..", "/..;/v1/messages",
    ],
)  # fmt: skip
def test_own_answer_f_for_a_wrong_base_url(shared: Pool, path: str) -> None:
    """A path that ends in a pooled one, however it is written, is answered with the base URL to set; no login goes out."""
    reply = shared.ask(shared.turn(path=path))
    kind, message = reply.error
    assert (reply.status, kind, reply.header("x-should-retry")) == (404, "not_found_error", "false")
    assert shared.proxy.url in message
    assert len(shared.upstream.requests) == 0


# -- D -------------------------------------------------------------------------------------------------------------


def test_own_answer_d_for_a_body_over_the_cap(make: Make) -> None:
    """Over body_mib the body is read to its end, dropped, and answered 413; the connection serves the next request."""
    pool = make("work", settings={"limits": {"body_mib": 1}})
    big = pool.turn(extra={"padding": "x" * (3 * MIB)})
    with pool.client() as client:
        for request in (big, Request(path=big.path, headers=big.headers, body=big.body, chunked=70_000)):
            reply = client.ask(request)
            assert (reply.status, reply.end, reply.error[0]) == (413, "whole", "request_too_large")
            assert "body_mib" in reply.error[1]
        assert len(pool.upstream.requests) == 0
        fits = pool.turn(extra={"padding": "x" * (MIB - 8_000)})
        assert client.ask(fits).status == 200
    pool.saw(fits, "work")


def test_own_answer_d_for_a_body_that_does_not_come_in_time(make: Make) -> None:
    """A body that stops is 408 after body_read_s (413 when it was over the cap already), and the connection is closed."""
    pool = make("work", settings={"limits": {"body_mib": 1, "body_read_s": 0.4}})
    for padding, expected in ((0, (408, "timeout_error")), (2 * MIB, (413, "request_too_large"))):
        request = pool.turn(extra={"padding": "x" * padding})
        with pool.client() as client:
            client.send_head(request)
            client.write(request.body[:-10])
            reply = client.begin().rest()
            assert (reply.status, reply.error[0]) == expected
            assert client.closed_by_peer()
    assert len(pool.upstream.requests) == 0
    assert pool.in_flight() == 0


def test_own_answer_d_a_slow_body_in_time_is_served(shared: Pool) -> None:
    """A body that comes in pieces within body_read_s goes upstream whole."""
    request = shared.turn()
    with shared.client() as client:
        pieces = [request.body[at : at + 700] for at in range(0, len(request.body), 700)]
        client.socket.getpeername()  # connected before two threads use it
        sender = threading.Thread(target=client.trickle, args=(request, pieces, 0.01))
        sender.start()
        reply = client.begin().rest()
        sender.join()
    assert reply.status == 200
    shared.saw(request, "work")
