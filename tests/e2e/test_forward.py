"""Forward mode: what clients that come by HTTPS_PROXY are served, and that only the vendor's tunnel is opened for it."""

from __future__ import annotations

import json
import socket
import ssl
import stat
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from OpenSSL import SSL

from providers.anthropic.placeholder import PLACEHOLDER
from tests.e2e.client import Client, Reply, Request
from tests.e2e.conftest import Make, Shared
from tests.e2e.harness import Proxy
from tests.e2e.instructions import lift
from tests.e2e.living import until
from tests.e2e.pool import CLIENT, Pool, ranked
from tests.e2e.tunnelled import VENDOR, NoTunnelError, Tunnelled
from tests.upstream import Upstream, closed_port, limit, ok, ok_json, plant, stream_error
from tests.upstream.asks import turn
from tests.upstream.authority import Authority

MIB = 1024 * 1024
LINK_LOCAL = "169.254.169.254"


def forward() -> dict[str, dict[str, str]]:
    """Settings with a listener for such clients; mitmproxy takes port 0 only once."""
    return {"listen": {"forward": f"127.0.0.1:{closed_port()}"}}


@pytest.fixture(scope="module")
def shared_forward(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """The module's pool for tests that leave no holds."""
    shared = Shared(tmp_path_factory.mktemp("forward"), forward)
    yield shared
    shared.close()


@pytest.fixture
def pool(shared_forward: Shared) -> Iterator[Pool]:
    """Three accounts, asked in this order: work, home, third."""
    pool = shared_forward.get()
    yield pool
    shared_forward.give_back(pool)


def inside(pool: Pool, host: str = VENDOR, port: int = 443, **kwargs: str) -> Tunnelled:
    """A new tunnel, with TLS inside."""
    return Tunnelled(pool.proxy.forward, pool.proxy.ca, host, port, **kwargs)


def refused(reply: Reply) -> str:
    """Fail unless this is own answer E; its message."""
    kind, message = reply.error
    assert (reply.status, kind, reply.header("x-should-retry")) == (400, "invalid_request_error", "false")
    return message


def no_tunnel(proxy: str, host: str, port: int, key: str = "") -> Reply:
    """What is said instead of opening a tunnel."""
    with pytest.raises(NoTunnelError) as met, Tunnelled(proxy, None, host, port, key=key) as client:
        client.socket.getpeername()
    return met.value.reply


# -- what is opened ------------------------------------------------------------------------------------------------


def test_each_request_in_a_tunnel_chooses_anew(make: Make) -> None:
    """One tunnel: the account is spent at the second request, which is replayed; the third goes to the other at once (X73)."""
    pool = make("work", "home", settings=forward())
    pool.upstream.script("work", ok("one"), limit("7d"))
    pool.upstream.script("home", ok("two"), ok("three"))
    asked = pool.turn()
    with inside(pool) as client:
        assert [client.ask(asked).text for _ in range(3)] == ["one", "two", "three"]
    pool.saw(asked, "work", "work", "home", "home")
    assert {one.header("host") for one in pool.upstream.requests} == {f"127.0.0.1:{pool.upstream.port}"}
    assert [hold[1] for hold in pool.holds()["work"]] == [13]


def test_an_error_behind_the_gate_is_replayed_in_a_tunnel(pool: Pool) -> None:
    """A stream that begins with an error never reaches the client."""
    pool.upstream.default("work", stream_error("overloaded_error"))
    pool.upstream.script("home", ok("served"))
    with inside(pool) as client:
        assert client.ask(pool.turn()).text == "served"
    assert pool.upstream.requests.accounts()[-1] == "home"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/oauth/profile"),
        ("GET", "/api/oauth/usage"),
        ("POST", "/api/event_logging/v2/batch"),
        ("POST", "/api/eval/sdk-x"),
        ("GET", "/v1/models?limit=1000"),
    ],
)
def test_other_paths_pass_on_the_clients_own_credential(pool: Pool, method: str, path: str) -> None:
    """What is bound to an identity, and telemetry, goes out as it came, with what was meant for us taken out."""
    pool.upstream.script(CLIENT, ok_json("{}"), path=path.partition("?")[0])
    own = (("authorization", f"Bearer {pool.token}"), ("cookie", "a=b"), ("X-Own", "1"))
    body = b'{"x": 1}' if method == "POST" else b""
    sent = Request(method=method, path=path, headers=(*own, ("proxy-authorization", "Basic eDp5")), body=body)
    with inside(pool) as client:
        assert client.ask(sent).status == 200
    (received,) = pool.upstream.requests
    assert (received.account, received.method, received.path, received.body) == (CLIENT, method, path, body)
    assert set(own) <= set(received.headers)
    assert received.header("proxy-authorization") is None


def test_a_pooled_request_in_a_tunnel_waits_and_is_woken(make: Make) -> None:
    """A change reaches a request that pauses inside a tunnel at once."""
    pool = make("work", "home", settings=forward() | {"wait": {"max": 600}})
    pool.upstream.script("work", limit("5h", resets_in=300))
    pool.upstream.script("home", limit("5h", resets_in=300))
    with inside(pool) as client:
        client.send(pool.turn())
        until(lambda: "home" in pool.holds(), "the second refusal has been read")
        lift(pool, "home")
        assert client.begin().rest().text == "This is home speaking."


def test_the_vendors_name_may_be_written_otherwise(pool: Pool) -> None:
    """In capitals and with the root's dot it is the same host, and the tunnel is opened."""
    with inside(pool, "API.Anthropic.com.", name=VENDOR) as client:
        assert client.ask(pool.turn().having(("Host", VENDOR))).status == 200
    assert pool.upstream.requests.accounts() == ["work"]


def test_eight_uploads_at_once_hold_each_other_up_by_nothing(pool: Pool) -> None:
    """Each of 8 x 1 MB is on its own connection to the upstream, whole, before any is answered (X75)."""
    pool.upstream.default("work", ok("served").late("all are here"))
    big = pool.turn(extra={"padding": "x" * MIB})
    with ExitStack() as stack:
        clients = [stack.enter_context(inside(pool)) for _ in range(8)]
        threads = [threading.Thread(target=client.send, args=(big,)) for client in clients]
        for thread in threads:
            thread.start()
        received = pool.upstream.requests.wait_for(8)
        for thread in threads:
            thread.join()
        pool.upstream.release("all are here")
        assert [client.begin().rest().status for client in clients] == [200] * 8
    assert len({one.connection for one in received}) == 8
    assert all(one.whole and one.body == big.body for one in received)


# -- TLS on both legs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offered", [("http/1.1",), ("h2", "http/1.1"), ()])
def test_each_leg_agrees_on_its_own_protocol(make: Make, tmp_path: Path, offered: tuple[str, ...]) -> None:
    """Whatever the client offers it gets HTTP/1.1, and so do we of an upstream that would rather have h2 (X74)."""
    authority = Authority(tmp_path)
    context = authority.server()
    context.set_alpn_protocols(["h2", "http/1.1"])
    trust = ("--set", f"ssl_verify_upstream_trusted_ca={authority.bundle}", "--set", "http2=true")
    pool = make("work", settings=forward(), tls=context, args=trust)
    with Tunnelled(pool.proxy.forward, pool.proxy.ca, alpn=offered) as client:
        assert client.tls.selected_alpn_protocol() == ("http/1.1" if offered else None)
        asked = pool.turn()
        assert client.ask(asked).status == 200
    pool.saw(asked, "work")


def test_tls_that_fails_towards_the_upstream_is_told_as_that(make: Make, tmp_path: Path) -> None:
    """An upstream that nobody vouches for is a 502 that names the certificate, not a refused connection (X74)."""
    pool = make("work", settings=forward(), tls=Authority(tmp_path).server())
    with inside(pool) as client:
        reply = client.ask(pool.turn())
    assert reply.status == 502
    assert "ertificate verify failed" in reply.error[1]
    assert pool.holds() == {}


def test_an_upstream_that_agrees_on_no_protocol_is_told_as_that(tmp_path: Path) -> None:
    """One that speaks nothing but h2 ends the handshake; the client is told so, not that nobody listens (X74)."""
    authority = Authority(tmp_path)
    authority.server()
    context = SSL.Context(SSL.TLS_SERVER_METHOD)
    for load in (context.use_certificate_chain_file, context.use_privatekey_file):
        load(str(tmp_path / "authority-server.pem"))
    context.set_alpn_select_callback(_h2_alone)
    trust = ("--set", f"ssl_verify_upstream_trusted_ca={authority.bundle}")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_shake_hands, args=(listener, context), daemon=True).start()
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        members = ranked("work")
        proxy = Proxy(tmp_path, url, members, settings=forward(), args=trust, told_mode=True)
        with proxy, Tunnelled(proxy.forward, proxy.ca, alpn=("http/1.1",)) as client:
            reply = client.ask(turn(plant(CLIENT)))
    assert reply.status == 502
    assert "no application protocol" in reply.error[1]


def _h2_alone(_: object, offered: list[bytes]) -> bytes:
    if b"h2" not in offered:
        raise ValueError("nothing that is spoken here")
    return b"h2"


def _shake_hands(listener: socket.socket, context: SSL.Context) -> None:
    with suppress(OSError):
        while True:
            raw, _ = listener.accept()
            made = SSL.Connection(context, raw)
            made.set_accept_state()
            with suppress(SSL.Error, ValueError):
                made.do_handshake()
            raw.close()


# -- what is tunnelled blind ---------------------------------------------------------------------------------------


def test_a_third_host_is_never_opened(pool: Pool, tmp_path: Path) -> None:
    """The client sees that host's own certificate and no other, and what passes leaves no trace in flows or logs."""
    authority, secret = Authority(tmp_path, "third"), plant("third")
    with Upstream({"third": secret}, tls=authority.server("third.example")) as third:
        third.script("third", ok("from the third"))
        with Tunnelled(pool.proxy.forward, authority.bundle, "127.0.0.1", third.port) as client:
            shown = client.tls.getpeercert(binary_form=True)
            assert shown is not None
            assert client.ask(pool.turn().having(("authorization", f"Bearer {secret}"))).text == "from the third"
        assert (tmp_path / "third-server.pem").read_text().endswith(ssl.DER_cert_to_PEM_cert(shown))
        assert third.requests.accounts() == ["third"]
    assert len(pool.upstream.requests) == 0
    assert pool.proxy.leaks(secret) == []


def test_a_tunnel_that_is_reset_ends_alone(pool: Pool) -> None:
    """A third host that resets its connection ends that tunnel; another one goes on, and so does the pool."""
    with Upstream() as third, ExitStack() as stack:
        tunnels = [Tunnelled(pool.proxy.forward, None, "127.0.0.1", third.port) for _ in range(2)]
        for tunnel in tunnels:
            stack.enter_context(tunnel).socket.getpeername()
        third.close_connections(reset=True)
        assert all(tunnel.closed_by_peer() for tunnel in tunnels)
        with Tunnelled(pool.proxy.forward, None, "127.0.0.1", third.port) as fresh:
            assert fresh.ask(Request(method="GET", path="/v1/models")).status == 401
    with inside(pool) as client:
        assert client.ask(pool.turn()).status == 200


def test_a_quiet_tunnel_outlives_every_limit_of_requests(make: Make) -> None:
    """No limit of requests, nor mitmproxy's own on idle connections, ends a tunnel on which nothing passes (X69)."""
    limits = {"connect_s": 0.2, "headers_s": 0.3, "body_read_s": 0.3, "stream_idle_s": 0.3, "stream_total_s": 0.5}
    pool = make("work", settings=forward() | {"limits": limits}, args=("--set", "tcp_timeout=1"))
    with ExitStack() as stack:
        third = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        at = third.getsockname()[1]
        tunnel = stack.enter_context(Tunnelled(pool.proxy.forward, None, "127.0.0.1", at))
        tunnel.write(b"one")
        peer = stack.enter_context(third.accept()[0])
        assert peer.recv(10) == b"one"
        for _ in range(2):  # each is ended after a second without a byte, one after the other
            idle = stack.enter_context(Client(pool.proxy.url))
            assert idle.ask(Request(method="GET", path="/_flowpool/health")).status == 200
            assert idle.closed_by_peer()
        tunnel.write(b"two")
        assert peer.recv(10) == b"two"
        peer.sendall(b"three")
        assert tunnel.socket.recv(10) == b"three"


def test_a_host_that_cannot_be_reached_is_named(pool: Pool) -> None:
    """Nothing listens there, or nobody knows the name: the client is told before its tunnel stands."""
    port = closed_port()
    for host, at in (("127.0.0.1", port), ("nobody.invalid", 443)):
        reply = no_tunnel(pool.proxy.forward, host, at)
        assert (reply.status, reply.json()["error"]["type"]) == (502, "api_error")
        assert f"{host}:{at}" in reply.json()["error"]["message"]


# -- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "LOCALHOST", "localhost.", "x.localhost", "127.1", "0x7f000001", "2130706433", "0.0.0.0",
     "::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "::", "127.0.0.2"],
)  # fmt: skip
def test_own_answer_e_for_a_tunnel_to_ourselves(pool: Pool, host: str) -> None:
    """None of our listeners is reached by a tunnel, however loopback is spelt."""
    for url in (pool.proxy.url, pool.proxy.forward):
        message = refused(no_tunnel(pool.proxy.forward, host, int(url.rpartition(":")[2])))
        assert "NO_PROXY" in message


def test_own_answer_e_for_a_tunnel_that_led_to_ourselves(make: Make) -> None:
    """An address whose text tells nothing is looked at once it is connected: this machine's own, where we listen on all."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        own = probe.getsockname()[0]
    settings = forward()
    settings["listen"]["claude"] = "0.0.0.0:0"
    pool = make("work", settings=settings)
    port = int(pool.proxy.url.rpartition(":")[2])
    pool.proxy.url = f"http://127.0.0.1:{port}"
    assert "NO_PROXY" in refused(no_tunnel(pool.proxy.forward, own, port))


def test_own_answer_e_for_a_tunnel_to_link_local_addresses(pool: Pool) -> None:
    """Where clouds hand out credentials to this machine, no tunnel leads."""
    for host in (LINK_LOCAL, "::ffff:169.254.169.254", "fe80::1", "fd00:ec2::254", "0xa9fea9fe"):
        assert "link-local" in refused(no_tunnel(pool.proxy.forward, host, 80))


@pytest.mark.parametrize(
    "target", ["UPSTREAM/v1/models", "OURS/_flowpool/health", "http://mitm.it/", "/v1/messages", "/_flowpool/status"]
)
def test_own_answer_e_for_plain_http(pool: Pool, target: str) -> None:
    """The listener is no open proxy: it asks nobody by plain http, and answers nothing of its own."""
    path = target.replace("UPSTREAM", pool.upstream.url).replace("OURS", pool.proxy.url)
    for request in (Request(method="GET", path=path), pool.turn(path=path)):
        with Client(pool.proxy.forward) as client:
            assert "HTTPS_PROXY" in refused(client.ask(request))
    assert len(pool.upstream.requests) == 0


def test_own_answer_e_inside_an_opened_tunnel(pool: Pool) -> None:
    """Plain http, another name in TLS, another Host, a web page: none of them is signed or passed on."""
    pooled = pool.turn()
    passed = Request(method="GET", path="/api/oauth/profile", headers=(("authorization", f"Bearer {pool.token}"),))
    for request in (pooled, passed):
        with Tunnelled(pool.proxy.forward, None) as plain:
            assert "https" in refused(plain.ask(request))
        with inside(pool, name="evil.example") as named:
            assert "another host" in refused(named.ask(request.having(("Host", "evil.example"))))
        with inside(pool) as client:
            for host in ("evil.example", f"{VENDOR}.evil.example", f"{VENDOR}:80", f"evil@{VENDOR}", ""):
                assert "Host" in refused(client.ask(request.having(("Host", host))))
    with inside(pool) as client:
        for header in (("Origin", "https://evil.example"), ("Origin", "null"), ("Sec-Fetch-Site", "cross-site")):
            assert "web pages" in refused(client.ask(pooled.having(header)))
    assert len(pool.upstream.requests) == 0
    assert pool.proxy.leaks(pool.token) == []


def test_own_answer_e_for_a_page_that_would_speak_as_the_primary(make: Make) -> None:
    """Everybody knows the placeholder; a page that shows it is signed by nobody, and who is no page is."""
    pool = make(members=[replace(one, primary=True) for one in ranked("work")], settings=forward())
    profile = Request(method="GET", path="/api/oauth/profile", headers=(("authorization", f"Bearer {PLACEHOLDER}"),))
    with inside(pool) as client:
        for header in (("Origin", "https://evil.example"), ("Sec-Fetch-Site", "cross-site")):
            assert "web pages" in refused(client.ask(profile.having(header)))
        assert len(pool.upstream.requests) == 0
        assert client.ask(profile).status == 200
    assert pool.upstream.requests.accounts() == ["work"]


@pytest.mark.parametrize("to", [VENDOR, "127.0.0.1"])
def test_own_answer_e_for_a_tunnel_that_is_asked_for_by_tls(pool: Pool, to: str) -> None:
    """The listener speaks plainly: TLS to it would pass for the TLS that a tunnel must have inside."""
    at = Client(pool.proxy.forward)
    context = ssl.create_default_context(cafile=pool.proxy.ca)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    with socket.create_connection((at.host, at.port)) as raw, context.wrap_socket(raw, server_hostname=VENDOR) as tls:
        tls.sendall(f"CONNECT {to}:443 HTTP/1.1\r\n\r\n".encode())
        assert tls.recv(64).startswith(b"HTTP/1.1 400 ")


def test_own_answer_f_inside_an_opened_tunnel(pool: Pool) -> None:
    """Our own paths are not served in a tunnel, and what only looks like a pooled path is answered as it is elsewhere."""
    key = (pool.proxy.home / "control.key").read_text().strip()
    with inside(pool) as client:
        for path in ("/_flowpool/health", "/_flowpool/status", "/x/../_flowpool/status"):
            assert client.ask(Request(method="GET", path=path, headers=(("x-flowpool-key", key),))).status == 404
        reply = client.ask(pool.turn(path="/v1/v1/messages"))
        assert (reply.status, f"https://{VENDOR}" in reply.error[1]) == (404, True)
    assert len(pool.upstream.requests) == 0


def test_own_answer_e_for_a_tunnel_without_the_key(make: Make) -> None:
    """Where a key is asked for, a tunnel is opened to who shows it as the proxy's password; it goes no further."""
    pool = make("work", settings=forward() | {"admit": {"key": True}})
    key = (pool.proxy.home / "client.key").read_text().strip()
    with Upstream() as third:
        for host, port in ((VENDOR, 443), ("127.0.0.1", third.port)):
            for wrong in ("", "wrong", f"{key}x"):
                assert "key" in refused(no_tunnel(pool.proxy.forward, host, port, wrong))
        assert third.connections == 0
    with inside(pool, key=key) as client:
        assert client.ask(pool.turn()).status == 200
    assert not [name for name in pool.upstream.requests[0].names() if name.lower().startswith(("proxy-", "x-flowpool"))]
    assert pool.proxy.leaks(key) == [str((pool.proxy.home / "client.key").relative_to(pool.proxy.folder))]


def test_the_reverse_listener_opens_no_tunnel(pool: Pool) -> None:
    """Each listener has its own duty."""
    for host in (VENDOR, "127.0.0.1"):
        assert no_tunnel(pool.proxy.url, host, 443).status == 400


# -- how it is started ---------------------------------------------------------------------------------------------


def test_serve_keeps_the_authority_to_itself(tmp_path: Path) -> None:
    """Its key is made for us alone in our own folder, running.json says where the certificate is, and a turn is served."""
    members = ranked("work")
    with Upstream({"work": members[0].secret}) as upstream:
        proxy = Proxy(tmp_path, upstream, members, settings=forward(), program="flowpool serve", told_mode=True)
        with proxy:
            folder = proxy.home / "mitmproxy"
            assert proxy.ca == folder / "mitmproxy-ca-cert.pem"
            modes = {
                path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir() if path.stem == "mitmproxy-ca"
            }
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            assert set(modes.values()) == {0o600}
            assert b"PRIVATE" not in proxy.ca.read_bytes()
            assert json.loads((proxy.home / "running.json").read_bytes())["listen"]["forward"] in proxy.log_text()
            with Tunnelled(proxy.forward, proxy.ca) as client:
                assert client.ask(turn(plant(CLIENT))).status == 200
            assert list(proxy.user.iterdir()) == []


def test_mitmdump_starts_itself_in_both_modes(tmp_path: Path) -> None:
    """Without a mode of the user's own it listens for both kinds of client."""
    with Upstream({"work": plant("work")}) as upstream:
        proxy = Proxy(tmp_path, upstream, ranked("work"), settings=forward())
        with proxy, Tunnelled(proxy.forward, proxy.ca) as client:
            assert client.ask(Request(method="GET", path="/_flowpool/health")).status == 404
            assert proxy.ca.parent == proxy.user / ".mitmproxy"
