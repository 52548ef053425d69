"""Whom clients that come by HTTPS_PROXY may ask, and what is opened there."""

import dataclasses
from types import SimpleNamespace
from typing import Any

import pytest
from mitmproxy import connection, ctx, http
from mitmproxy.proxy.mode_specs import ProxyMode

from addons.forward import Forward
from addons.tunnels import TUNNELS, Blind, Opened, Tunnel, Upstream
from credentials.way import Way
from home.checks import Address
from providers.anthropic import ANTHROPIC
from tests.addons.made import UPSTREAM, flow, request

MODE = "regular@127.0.0.1:3458"
LISTEN = Address(host="127.0.0.1", port=3458)
GATEWAY = ("https", "Gateway.Example", 8443)
LOCAL = ("http", "127.0.0.1", 9000)
WAY = Way(proxy="http://proxy.example:3128")
TUNNEL = Opened(host="api.anthropic.com", port=443, provider=ANTHROPIC, upstream=UPSTREAM)
HEADERS = ((b"host", b"api.anthropic.com"),)


@pytest.fixture(autouse=True)
def mitmproxy_that_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    """On two addresses."""
    server = SimpleNamespace(listen_addrs=lambda: [("127.0.0.1", 3456), ("127.0.0.1", 3458)])
    found = {"proxyserver": server}
    monkeypatch.setattr(ctx, "master", SimpleNamespace(addons=SimpleNamespace(get=found.get)), raising=False)


def forward(upstream: Upstream = UPSTREAM, listen: Address | None = LISTEN) -> Forward:
    """The rules where that is the vendor's upstream."""
    return Forward(listen, {upstream: ANTHROPIC}, WAY)


def connect(host: str, port: int = 443, rules: Forward | None = None) -> tuple[str | None, Tunnel | None]:
    """Why there is no tunnel, and the tunnel that there is."""
    made = flow(http.Request.make("CONNECT", f"https://{'[' + host + ']' if ':' in host else host}:{port}/"), mode=MODE)
    made.request.host, made.request.port = host, port
    why = (rules or forward()).connect(made)
    return why, TUNNELS.get(made.client_conn)


@pytest.mark.parametrize(
    ("mode", "listen", "ours"),
    [
        (MODE, LISTEN, True),
        (MODE, None, False),
        ("regular@127.0.0.1:3459", LISTEN, False),
        ("regular@3458", LISTEN, False),
        ("regular", LISTEN, False),
        ("socks5@127.0.0.1:3458", LISTEN, False),
        ("reverse:https://api.anthropic.com@127.0.0.1:3458", LISTEN, False),
        ("regular@::1:3458", Address(host="::1", port=3458), True),
    ],
)
def test_one_mode_is_ours(mode: str, listen: Address | None, ours: bool) -> None:
    """The regular proxy where [listen] forward is; another one that the user adds serves nobody."""
    assert forward(listen=listen).owns(ProxyMode.parse(mode)) is ours


@pytest.mark.parametrize(
    ("host", "port", "upstream", "opens"),
    [
        ("api.anthropic.com", 443, UPSTREAM, True),
        ("API.Anthropic.com.", 443, UPSTREAM, True),
        ("api.anthropic.com", 80, UPSTREAM, False),
        ("api.anthropic.com", 8443, UPSTREAM, False),
        ("api.anthropic.com.evil.example", 443, UPSTREAM, False),
        ("evil-api.anthropic.com", 443, UPSTREAM, False),
        ("platform.claude.com", 443, UPSTREAM, False),
        ("downloads.claude.ai", 443, UPSTREAM, False),
        ("chatgpt.com", 443, UPSTREAM, False),
        ("api.anthropic.com", 443, GATEWAY, True),
        ("gateway.example", 8443, GATEWAY, True),
        ("gateway.example", 443, GATEWAY, False),
        ("api.anthropic.com", 443, LOCAL, True),
        ("127.0.0.1", 9000, LOCAL, False),
    ],
)
def test_what_is_opened(host: str, port: int, upstream: Upstream, opens: bool) -> None:
    """Where the vendor serves pooled paths, and the upstream that the user set in its place; all else is passed on blind."""
    why, tunnel = connect(host, port, forward(upstream))
    assert why is None
    if opens:
        assert tunnel == Opened(host=host.rstrip(".").lower(), port=port, provider=ANTHROPIC, upstream=upstream)
    else:
        assert isinstance(tunnel, Blind)
        assert (tunnel.host, tunnel.port, tunnel.way) == (host, port, WAY)


@pytest.mark.parametrize(
    ("host", "port"), [("127.0.0.1", 3456), ("localhost", 3458), ("::1", 3458), ("169.254.169.254", 80)]
)
def test_what_is_refused(host: str, port: int) -> None:
    """Ourselves, and what only neighbours of this machine have; no tunnel is noted."""
    why, tunnel = connect(host, port)
    assert why is not None
    assert why.startswith(f"no tunnel to {host}: ")
    assert "NO_PROXY" in why
    assert tunnel is None


def test_where_a_blind_tunnel_led_is_looked_at() -> None:
    """Once it is connected; what is not known is not used."""
    _, tunnel = connect("name.example")
    assert isinstance(tunnel, Blind)
    server = connection.Server(address=("name.example", 443))
    assert tunnel.astray(server) is not None
    server.peername, server.sockname = ("127.0.0.1", 3456), ("127.0.0.1", 50_000)
    assert "NO_PROXY" in (tunnel.astray(server) or "")
    server.peername = ("93.184.216.34", 443)
    assert tunnel.astray(server) is None


def inside(
    *fields: tuple[bytes, bytes],
    tls: bool = True,
    sni: str | None = "api.anthropic.com",
    headers: tuple[tuple[bytes, bytes], ...] = HEADERS,
) -> http.HTTPFlow:
    """A request that came through the tunnel."""
    made = flow(request(headers=(*headers, *fields)), mode=MODE)
    made.client_conn.timestamp_tls_setup = 1.0 if tls else None
    made.client_conn.sni = sni
    return made


def beside(host: str) -> http.HTTPFlow:
    """A request that looks as if it came through the tunnel, and would go elsewhere."""
    made = inside()
    made.request.host = host
    return made


INSIDE: dict[str, tuple[http.HTTPFlow, str]] = {
    "as the client does": (inside(), ""),
    "no name in TLS": (inside(sni=None), ""),
    "the name in TLS written otherwise": (inside(sni="API.anthropic.com."), ""),
    "the host written otherwise": (inside(headers=((b"Host", b"Api.Anthropic.com:443"),)), ""),
    "for a third host": (beside("evil.example"), "HTTPS_PROXY"),
    "plainly": (inside(tls=False), "https"),
    "another name in TLS": (inside(sni="evil.example"), "TLS"),
    "no host": (inside(headers=()), "Host"),
    "another host": (inside(headers=((b"host", b"evil.example"),)), "Host"),
    "another port": (inside(headers=((b"host", b"api.anthropic.com:80"),)), "Host"),
    "two hosts": (inside(headers=(*HEADERS, *HEADERS)), "Host"),
}


@pytest.mark.parametrize("is_ours", [False, True])
@pytest.mark.parametrize("case", INSIDE)
def test_who_asks_inside(case: str, is_ours: bool) -> None:
    """By TLS, under the tunnel's own name, pooled or not."""
    made, names = INSIDE[case]
    why = forward().unfit(made, TUNNEL, is_ours=is_ours)
    assert (why is None) == (names == "")
    assert names in (why or "")


@pytest.mark.parametrize(
    ("field", "lets"),
    [
        ((b"origin", b"https://api.anthropic.com"), True),
        ((b"sec-fetch-site", b"same-origin"), True),
        ((b"sec-fetch-site", b"none"), True),
        ((b"origin", b"https://evil.example"), False),
        ((b"origin", b"null"), False),
        ((b"origin", b"http://api.anthropic.com"), False),
        ((b"Sec-Fetch-Site", b"cross-site"), False),
        ((b"Sec-Fetch-Site", b"same-site"), False),
    ],
)
def test_a_web_page_spends_nothing_of_the_pool(field: tuple[bytes, bytes], lets: bool) -> None:
    """What it asks on its own credential is between it and the vendor."""
    assert (forward().unfit(inside(field), TUNNEL, is_ours=True) is None) is lets
    assert forward().unfit(inside(field), TUNNEL, is_ours=False) is None


def test_a_gateway_s_port_is_part_of_its_name() -> None:
    """Only the default one may be left out."""
    tunnel = dataclasses.replace(TUNNEL, host="gateway.example", port=8443)
    for host, lets in ((b"gateway.example:8443", True), (b"gateway.example", False)):
        made = inside(headers=((b"host", host),), sni="gateway.example")
        assert (forward().unfit(made, tunnel, is_ours=True) is None) is lets


def test_both_legs_of_a_tunnel_speak_http_1() -> None:
    """In opened tunnels, whatever the client offers; elsewhere it is mitmproxy's to say."""
    for tunnel, offers in ((TUNNEL, (b"http/1.1",)), (None, ())):
        client = flow(mode=MODE).client_conn
        if tunnel is not None:
            TUNNELS[client] = tunnel
        server = connection.Server(address=("api.anthropic.com", 443))
        data: Any = SimpleNamespace(context=SimpleNamespace(client=client), conn=server)
        forward().tls_start_server(data)
        client.alpn = None
        forward().tls_clienthello(data)
        assert (tuple(server.alpn_offers), client.alpn) == (offers, offers[0] if offers else None)


def test_where_we_listened_is_no_destination_either(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the proxy ends mitmproxy tells no address any more, and the next proxy listens there; clients still ask for tunnels."""
    rules = forward()
    rules.running()
    silent = SimpleNamespace(listen_addrs=list)
    monkeypatch.setattr(ctx, "master", SimpleNamespace(addons=SimpleNamespace(get=lambda _: silent)), raising=False)

    why, tunnel = connect("127.0.0.1", 3456, rules)
    assert why is not None
    assert "it is flowpool itself" in why
    assert tunnel is None
    _, tunnel = connect("rebound.example", 3458, rules)
    assert isinstance(tunnel, Blind)
    led = SimpleNamespace(peername=("127.0.0.1", 3458), sockname=("127.0.0.1", 50000))
    assert "it is flowpool itself" in (tunnel.astray(led) or "")  # type: ignore[arg-type]
