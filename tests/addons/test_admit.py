"""Admission: who may speak, on which path, and that no secret stays on a flow.

Longer than 250 lines: one module's tests stand in its one test file, as tests/test_tree.py wants it.
"""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mitmproxy import http

from addons.admit import Admit, is_ours
from addons.exchange import EXCHANGES, Exchange, Path
from addons.sign import MASK, SECRET_HEADERS
from home.checks import Address
from home.tables import Listen, Settings
from providers.anthropic import ANTHROPIC
from tests.addons.made import CLIENT_TOKEN, SETTINGS, UPSTREAM, error_of, flow, request

ADMIT = Admit(SETTINGS, {UPSTREAM: ANTHROPIC})


def met(made: http.HTTPFlow, admit: Admit = ADMIT) -> Exchange:
    """The exchange that admission opened for a flow."""
    admit.requestheaders(made)
    return EXCHANGES[made]


def asked(host: str | None = "127.0.0.1:3456", *, path: str = "/v1/messages", **headers: str) -> http.Request:
    """A request with that host and more headers; underscores in their names are dashes."""
    fields = [] if host is None else [(b"host", host.encode())]
    fields += [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return request(path=path, headers=fields)


# Whose path it is

OURS = ("", "/", "/health", "/status?x=1", "/a/../b")


@st.composite
def disguised(draw: st.DrawFn) -> str:
    """A path under /_flowpool/ as somebody might write it to slip through."""
    path = "/_flowpool" + draw(st.sampled_from(OURS))
    plain, question, query = path.partition("?")
    for _ in range(draw(st.integers(0, 3))):
        plain = "".join(draw(st.sampled_from([c, c, f"%{ord(c):02x}", f"%{ord(c):02X}"])) for c in plain)
    trick = draw(st.sampled_from(["", "/", "//", "/.", "/x/..", "/%2e", "/x/%2E%2e", "/x/.%2e", "\\", "/\\", "/.\\"]))
    turned = draw(st.sampled_from([plain, plain.upper(), plain.swapcase()]))
    return trick + turned + question + query


@given(disguised())
def test_no_disguise_makes_our_paths_the_upstreams(path: str) -> None:
    """Percent encodings, dot segments, double slashes, backslashes and case change nothing."""
    assert is_ours(path)


@given(disguised())
def test_what_is_ours_is_answered_here(path: str) -> None:
    """A request for one of our own paths is never forwarded, whatever it looks like."""
    made = flow(asked(path=path))

    assert (met(made).path, made.response) == (Path.LOCAL, None)


@pytest.mark.parametrize(
    "path",
    [
        "/v1/messages",
        "/",
        "",
        "/_flowpools",
        "/_flow/pool",
        "/flowpool/status",
        "/v1/_flowpool/status",
        "/v1/messages?next=/_flowpool/status",
    ],
)
def test_other_paths_are_not_ours(path: str) -> None:
    """What merely mentions the name belongs to the upstream."""
    assert not is_ours(path)


@pytest.mark.parametrize("path", ["/_flowpool/../v1/models", "/_flowpool/%2e%2e/v1/models", "//_flowpool/..\\x"])
def test_what_is_written_under_our_prefix_is_ours_wherever_its_dots_lead(path: str) -> None:
    """Nothing under /_flowpool/ is forwarded, not even a path that climbs out of it again."""
    assert is_ours(path)


PATHS = [
    ("POST", "/v1/messages", Path.POOLED),
    ("POST", "/v1/messages?beta=true", Path.POOLED),
    ("POST", "/v1/messages/count_tokens", Path.POOLED),
    ("GET", "/v1/messages", Path.PASSED),
    ("POST", "/v1/messages/batches", Path.PASSED),
    ("GET", "/api/oauth/usage", Path.PASSED),
    ("HEAD", "/", Path.PASSED),
    ("GET", "/_flowpool/status", Path.LOCAL),
]


@pytest.mark.parametrize(("method", "path", "wanted"), PATHS)
def test_each_path_is_sorted(method: str, path: str, wanted: Path) -> None:
    """A pooled path is signed by an account, our own is answered here, every other one passes through."""
    made = flow(request(method, path))

    exchange = met(made)
    assert (exchange.path, exchange.provider, made.response) == (wanted, ANTHROPIC, None)


@pytest.mark.parametrize(
    "path", ["/v1/v1/messages", "/anthropic/v1/messages", "/v1//v1/messages/count_tokens?beta=true"]
)
def test_a_misplaced_path_names_the_right_address(path: str) -> None:
    """Own answer F: a wrong base URL is told the right one, and nothing is sent."""
    made = flow(asked("localhost:3456", path=path))

    assert met(made).answer == "F"
    status, kind, message = error_of(made.response)
    assert (status, kind) == (404, "not_found_error")
    assert message.endswith("ANTHROPIC_BASE_URL=http://localhost:3456")


# Who may speak

GOOD_HOSTS = ["127.0.0.1:3456", "localhost:3456", "LocalHost:3456", "[::1]:3456"]
BAD_HOSTS = [None, "", "127.0.0.1", "localhost", "127.0.0.1:80", "evil.example:3456", "127.0.0.1:3456.evil.example"]
ORIGINS = [
    ("", True),
    ("http://127.0.0.1:3456", True),
    ("HTTP://LOCALHOST:3456", True),
    ("http://[::1]:3456", True),
    ("https://127.0.0.1:3456", False),
    ("http://127.0.0.1:8000", False),
    ("http://evil.example", False),
    ("null", False),
]
SITES = [("none", True), ("same-origin", True), ("Same-Origin", True), ("same-site", False), ("cross-site", False)]
PEERS = [
    ("127.0.0.1", True),
    ("127.8.9.1", True),
    ("::1", True),
    ("::1%lo", True),
    ("::ffff:127.0.0.1", True),
    ("::ffff:10.0.0.1", False),
    ("192.168.0.7", False),
    ("fe80::1%eth0", False),
]
MODES = [
    ("reverse:https://api.anthropic.com@127.0.0.1:9", True),
    ("regular", False),
    ("socks5", False),
    ("upstream:http://proxy.example:3128", False),
    ("reverse:https://other.example", False),
    ("reverse:http://api.anthropic.com", False),
    ("reverse:https://api.anthropic.com:8443", False),
]


def check(made: http.HTTPFlow, *, admitted: bool, admit: Admit = ADMIT) -> None:
    """A refused flow has own answer E, which no client takes for the end of its login."""
    exchange = met(made, admit)
    if admitted:
        assert (exchange.answer, made.response) == (None, None)
        return
    assert (exchange.answer, exchange.path) == ("E", Path.LOCAL)
    assert error_of(made.response)[:2] == (400, "invalid_request_error")
    assert made.response is not None
    assert made.response.headers.get("x-should-retry") == "false"


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/models", "/_flowpool/health"])
@pytest.mark.parametrize(("host", "admitted"), [*((h, True) for h in GOOD_HOSTS), *((h, False) for h in BAD_HOSTS)])
def test_only_our_own_hosts_are_served(host: str | None, admitted: bool, path: str) -> None:
    """The Host must be loopback with our port, on every path; a name that was rebound to us is refused."""
    check(flow(asked(host, path=path)), admitted=admitted)


@pytest.mark.parametrize(("origin", "admitted"), ORIGINS)
def test_only_our_own_origin_is_served(origin: str, admitted: bool) -> None:
    """A page of another origin is refused; programs send none."""
    check(flow(asked(origin=origin)), admitted=admitted)


@pytest.mark.parametrize(("site", "admitted"), SITES)
def test_only_our_own_site_is_served(site: str, admitted: bool) -> None:
    """What a browser says was asked by another site is refused."""
    check(flow(asked(sec_fetch_site=site)), admitted=admitted)


@pytest.mark.parametrize(("peer", "admitted"), PEERS)
def test_only_this_machine_is_served(peer: str, admitted: bool) -> None:
    """The peer must be a loopback address, also one written as IPv6."""
    check(flow(asked(), peer=peer), admitted=admitted)


def test_a_peer_without_an_address_is_refused() -> None:
    """Who cannot be told to be on this machine is not."""
    made = flow(asked())
    made.client_conn.peername = ()  # type: ignore[assignment]

    check(made, admitted=False)


@pytest.mark.parametrize(("mode", "admitted"), MODES)
def test_only_our_own_modes_are_served(mode: str, admitted: bool) -> None:
    """Only a reverse proxy to a provider's own upstream, by scheme, host and port, is ours."""
    check(flow(asked(), mode=mode), admitted=admitted)


def test_the_listen_address_is_a_host() -> None:
    """The name in the settings is served too, in whatever case."""
    admit = Admit(Settings(listen=Listen(claude=Address(host="Desk.Local", port=3456))), {UPSTREAM: ANTHROPIC})

    check(flow(asked("desk.local:3456", origin="http://desk.local:3456")), admitted=True, admit=admit)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "localhost:80"])
def test_the_default_port_may_be_left_out(host: str) -> None:
    """On port 80 clients name no port."""
    made = flow(asked(host))
    made.client_conn.sockname = ("127.0.0.1", 80)

    check(made, admitted=True)


def test_two_hosts_are_none() -> None:
    """A request that names two hosts is refused."""
    made = flow(request(headers=[(b"host", b"127.0.0.1:3456"), (b"Host", b"127.0.0.1:3456")]))

    check(made, admitted=False)


# What stays on the flow

names = st.sampled_from([name.decode() for name in SECRET_HEADERS]).flatmap(
    lambda name: st.sampled_from([name, name.upper(), name.title()])
)
makers = st.sampled_from(
    [
        flow,
        lambda made: flow(made, mode="regular"),
        lambda made: flow(made, peer="10.0.0.1"),
        lambda made: flow(made, mode="reverse:https://other.example"),
    ]
)


@given(st.lists(names, min_size=1, max_size=5), makers, st.sampled_from(["/v1/messages", "/v1/models", "/_flowpool/x"]))
def test_no_secret_stays_on_any_flow(secrets: list[str], make: object, path: str) -> None:
    """Every secret header of every flow is masked, refused ones included, and kept in order beside the flow."""
    assert callable(make)
    fields = [
        (b"host", b"evil.example"),
        *((name.encode(), b"%s %d" % (CLIENT_TOKEN.encode(), i)) for i, name in enumerate(secrets)),
    ]
    made: http.HTTPFlow = make(request(path=path, headers=fields))

    exchange = met(made)
    assert CLIENT_TOKEN not in json.dumps(made.get_state(), default=repr)
    assert [value for _, value in made.request.headers.fields[1:]] == [MASK] * len(secrets)
    assert [value for _, value in exchange.own] == [b"%s %d" % (CLIENT_TOKEN.encode(), i) for i in range(len(secrets))]
    assert CLIENT_TOKEN not in repr(exchange)


@given(st.lists(st.sampled_from(["key", "KEY", "client", "", "a-b"]), max_size=4), st.booleans())
def test_our_own_headers_go_no_further(ends: list[str], refused: bool) -> None:
    """Every x-flowpool-* header is taken off, and what is named only alike stays."""
    own = [(f"X-Flowpool-{end}".encode(), b"v") for end in ends]
    made = flow(request(headers=[(b"host", b"x" if refused else b"127.0.0.1:3456"), *own, (b"x-flowpools", b"stays")]))

    met(made)
    assert [name for name, _ in made.request.headers.fields] == [b"host", b"x-flowpools"]


def test_the_key_is_kept_beside_the_flow() -> None:
    """What opens /_flowpool/ is in the exchange and not on the flow."""
    made = flow(asked(x_flowpool_key="open sesame"))

    assert met(made).key == "open sesame"
    assert "open sesame" not in json.dumps(made.get_state(), default=repr) + repr(EXCHANGES[made])


def test_the_launch_is_kept_beside_the_flow() -> None:
    """Whom the client was launched to use is in the exchange, and goes no further, also on paths that are not pooled."""
    for path in ("/v1/messages", "/v1/models"):
        made = flow(asked(path=path, x_flowpool_pin="work"))
        assert met(made).pin == "work"
        assert "x-flowpool-pin" not in made.request.headers


def test_an_exchange_has_the_settings_of_its_start() -> None:
    """Limits and rules are those that stood when the request came."""
    settings = replace(SETTINGS, limits=replace(SETTINGS.limits, body_mib=1), wait=replace(SETTINGS.wait, max=7))
    exchange = met(flow(), Admit(settings, {UPSTREAM: ANTHROPIC}))

    assert (exchange.limits, exchange.rules) == (settings.limits, settings.rules)


@pytest.mark.parametrize("mode", ["regular", "upstream:http://proxy.example:3128"])
def test_no_tunnel_is_opened(mode: str) -> None:
    """CONNECT is answered E, its secrets masked: what runs through a tunnel could not be signed."""
    made = flow(request("CONNECT", headers=[(b"Proxy-Authorization", CLIENT_TOKEN.encode())]), mode=mode)

    ADMIT.http_connect(made)
    assert (EXCHANGES[made].answer, EXCHANGES[made].path) == ("E", Path.LOCAL)
    assert error_of(made.response)[:2] == (400, "invalid_request_error")
    assert made.response is not None
    assert made.response.headers.get("x-should-retry") == "false"
    assert CLIENT_TOKEN not in json.dumps(made.get_state(), default=repr)


def test_admission_that_fails_lets_nobody_in() -> None:
    """A fault while admitting answers 502 and leaves no secret behind."""
    made = flow()
    made.client_conn.peername = ("no address", 1)

    ADMIT.requestheaders(made)
    assert error_of(made.response)[0] == 502
    assert CLIENT_TOKEN not in json.dumps(made.get_state(), default=repr)
