"""Admission: who may speak, on which path, and that no secret stays on a flow.

Longer than 250 lines: one module's tests stand in its one test file, as tests/test_tree.py wants it.
"""

import base64
import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mitmproxy import ctx, http

from addons.admit import KEY_WANTED, Admit, is_ours
from addons.exchange import EXCHANGES, Exchange, Path
from addons.forward import Forward
from addons.sign import MASK, SECRET_HEADERS
from addons.tunnels import TUNNELS, opened
from credentials.secret import Secret
from home.checks import Address
from home.tables import Listen, Settings
from providers.anthropic import ANTHROPIC
from providers.anthropic.placeholder import PLACEHOLDER
from tests.addons.made import CLIENT_TOKEN, HEADERS, MODE, SETTINGS, UPSTREAM, error_of, flow, request

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
    """X113: the Host must be loopback with our port, on every path; a name that was rebound to us is refused."""
    check(flow(asked(host, path=path)), admitted=admitted)


@pytest.mark.parametrize(("origin", "admitted"), ORIGINS)
def test_only_our_own_origin_is_served(origin: str, admitted: bool) -> None:
    """X113: a page of another origin is refused; programs send none."""
    check(flow(asked(origin=origin)), admitted=admitted)


@pytest.mark.parametrize(("site", "admitted"), SITES)
def test_only_our_own_site_is_served(site: str, admitted: bool) -> None:
    """X113: what a browser says was asked by another site is refused."""
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


# Who shows a key

CLIENT_KEY, CONTROL_KEY = (Secret(end * 43) for end in "ab")
KEYED = Admit(SETTINGS, {UPSTREAM: ANTHROPIC}, (CLIENT_KEY, CONTROL_KEY))
LAN = "192.168.1.5"


def reached(host: str, *, by: str = LAN, peer: str = "192.168.1.9", **headers: str) -> http.HTTPFlow:
    """A request of another machine that reached us by that address."""
    made = flow(asked(host, **headers), peer=peer)
    made.client_conn.sockname = (by, 3456)
    return made


@pytest.mark.parametrize(
    "path", ["/v1/messages", "/v1/models", "/_flowpool/status", "/_flowpool/healthy", "/_flowpool/x/../health"]
)
@pytest.mark.parametrize(
    ("key", "admitted"),
    [
        (CLIENT_KEY.reveal(), True),
        (CONTROL_KEY.reveal(), True),
        ("", False),
        ("a", False),
        (CLIENT_KEY.reveal()[1:], False),
        (f"{CLIENT_KEY.reveal()}, {CLIENT_KEY.reveal()}", False),
    ],
)
def test_only_who_shows_a_key_is_served(path: str, key: str, admitted: bool) -> None:
    """Where a key is asked for; the answer says what hands it on, and not the key."""
    made = flow(asked(path=path, x_flowpool_key=key))
    check(made, admitted=admitted, admit=KEYED)
    if not admitted:
        assert error_of(made.response)[2] == KEY_WANTED
        assert all(f"flowpool {command}" in KEY_WANTED for command in ("run", "env"))


@pytest.mark.parametrize("field", ["x_flowpool_key", "authorization", "x_api_key", "proxy_authorization", "cookie"])
def test_the_key_is_taken_in_its_own_field_alone(field: str) -> None:
    """A request's other credentials are the client's own; the path is no place for one either."""
    made = flow(asked(path=f"/v1/messages?key={CLIENT_KEY.reveal()}", **{field: CLIENT_KEY.reveal()}))
    check(made, admitted=field == "x_flowpool_key", admit=KEYED)


def test_whether_we_are_well_may_be_asked_without_a_key() -> None:
    """On this machine, by its plain name; another machine shows the key there too."""
    check(flow(asked(path="/_flowpool/health?x=1")), admitted=True, admit=KEYED)
    check(reached(f"{LAN}:3456", path="/_flowpool/health"), admitted=False, admit=KEYED)


def test_an_upgrade_passes_the_same_gate() -> None:
    """What becomes of the connection later is no reason."""
    for key, admitted in ((CLIENT_KEY.reveal(), True), ("", False)):
        made = flow(asked(path="/v1/x", upgrade="websocket", connection="upgrade", x_flowpool_key=key))
        check(made, admitted=admitted, admit=KEYED)


@pytest.mark.parametrize(
    ("host", "by", "admitted"),
    [
        (f"{LAN}:3456", LAN, True),
        (f"{LAN}:3456", f"::ffff:{LAN}", True),
        ("[fe80::1]:3456", "fe80::1%eth0", True),
        ("[2001:db8::5]:3456", "2001:db8::5", True),
        ("127.0.0.1:3456", LAN, True),
        (LAN, LAN, False),
        (f"{LAN}:80", LAN, False),
        ("192.168.1.6:3456", LAN, False),
        ("evil.example:3456", LAN, False),
        (f"{LAN}.evil.example:3456", LAN, False),
    ],
)
def test_another_machine_asks_by_the_address_it_reached(host: str, by: str, admitted: bool) -> None:
    """With the key it is let in, and the Host must be that very number, as for a name that somebody leads to us."""
    check(reached(host, by=by, x_flowpool_key=CLIENT_KEY.reveal()), admitted=admitted, admit=KEYED)
    check(reached(host, by=by), admitted=False, admit=KEYED)
    check(reached(host, by=by, x_flowpool_key=CLIENT_KEY.reveal()), admitted=False)


def test_the_number_of_another_network_is_none_of_this_machines_names() -> None:
    """A program here asks by loopback, though it came by the same socket's address."""
    made = flow(asked(f"{LAN}:3456", x_flowpool_key=CLIENT_KEY.reveal()))
    check(made, admitted=False, admit=KEYED)


@pytest.mark.parametrize(
    "origin", ["null", "http://evil.example", f"http://{LAN}.evil.example", "http://192.168.1.9:3456"]
)
def test_the_key_opens_nothing_to_a_page_of_another_origin(origin: str) -> None:
    """X113: nor does it matter from where the page is shown."""
    check(flow(asked(origin=origin, x_flowpool_key=CLIENT_KEY.reveal())), admitted=False, admit=KEYED)
    check(reached(f"{LAN}:3456", origin=origin, x_flowpool_key=CLIENT_KEY.reveal()), admitted=False, admit=KEYED)


@pytest.mark.parametrize(
    "name", ["x-flowpool-key", "X-Flowpool-Key", "x_flowpool_key", "X-FLOWPOOL_KEY", "x-flowpool-keys"]
)
def test_no_spelling_of_the_key_goes_on(name: str) -> None:
    """However it is written, it leaves the flow before anybody sees it."""
    made = flow(request(headers=[(b"host", b"127.0.0.1:3456"), (name.encode(), CLIENT_KEY.reveal().encode())]))
    exchange = met(made, KEYED)
    assert CLIENT_KEY.reveal() not in json.dumps(made.get_state(), default=repr) + repr(exchange)
    assert [field for field, _ in made.request.headers.fields] == [b"host"]


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
    """Every secret header of every flow is masked, refused ones included, and kept in order beside the flow but for a proxy's."""
    assert callable(make)
    fields = [
        (b"host", b"evil.example"),
        *((name.encode(), b"%s %d" % (CLIENT_TOKEN.encode(), i)) for i, name in enumerate(secrets)),
    ]
    made: http.HTTPFlow = make(request(path=path, headers=fields))

    exchange = met(made)
    assert CLIENT_TOKEN not in json.dumps(made.get_state(), default=repr)
    assert [value for _, value in made.request.headers.fields[1:]] == [MASK] * len(secrets)
    kept = [i for i, name in enumerate(secrets) if name.strip().lower().replace("_", "-") != "proxy-authorization"]
    assert [value for _, value in exchange.own] == [b"%s %d" % (CLIENT_TOKEN.encode(), i) for i in kept]
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


# Tunnels

FORWARD_AT = Address(host="127.0.0.1", port=3458)
FORWARD_MODE = "regular@127.0.0.1:3458"


@pytest.fixture
def tunnelling(monkeypatch: pytest.MonkeyPatch) -> Admit:
    """Admission where clients may come by HTTPS_PROXY, and must show a key."""
    server = SimpleNamespace(listen_addrs=lambda: [("127.0.0.1", 3456), ("127.0.0.1", 3458)])
    found = {"proxyserver": server}
    monkeypatch.setattr(ctx, "master", SimpleNamespace(addons=SimpleNamespace(get=found.get)), raising=False)
    providers = {UPSTREAM: ANTHROPIC}
    return Admit(SETTINGS, providers, (CLIENT_KEY,), Forward(FORWARD_AT, providers))


def connecting(
    *fields: tuple[bytes, bytes], to: str = "api.anthropic.com", mode: str = FORWARD_MODE, peer: str = "127.0.0.1"
) -> http.HTTPFlow:
    """A CONNECT that shows the key, and more."""
    shown = b"Basic " + base64.b64encode(b"flowpool:" + CLIENT_KEY.reveal().encode())
    made = flow(request("CONNECT", headers=[(b"Proxy-Authorization", shown), *fields]), mode=mode, peer=peer)
    made.request.host, made.request.port = to, 443
    made.client_conn.timestamp_tls_setup = None
    return made


@pytest.mark.parametrize("to", ["api.anthropic.com", "third.example"])
def test_a_tunnel_is_opened_for_who_may_have_one(tunnelling: Admit, to: str) -> None:
    """What it showed is on no flow, and is kept for nobody."""
    made = connecting((b"authorization", CLIENT_TOKEN.encode()), to=to)
    tunnelling.http_connect(made)
    assert made.response is None
    assert (TUNNELS[made.client_conn].host, opened(made.client_conn) is not None) == (to, to == "api.anthropic.com")
    assert (EXCHANGES[made].own, EXCHANGES[made].answer) == ((), None)
    said = json.dumps(made.get_state(), default=repr)
    assert CLIENT_TOKEN not in said
    assert CLIENT_KEY.reveal() not in said


@pytest.mark.parametrize(
    ("made", "says"),
    [
        pytest.param(connecting(peer="192.168.1.9"), "this machine", id="another machine"),
        pytest.param(connecting(mode="regular@127.0.0.1:3459"), "forward", id="another regular mode"),
        pytest.param(connecting(mode=MODE), "forward", id="the reverse mode"),
        pytest.param(connecting((b"x", b"a\r\nb")), "line break", id="a torn header"),
        pytest.param(connecting(to="localhost"), "key", id="no key"),
        pytest.param(connecting((b"proxy-authorization", b"Basic eDp5")), "key", id="two keys"),
    ],
)
def test_own_answer_e_for_who_may_have_no_tunnel(
    tunnelling: Admit, made: http.HTTPFlow, says: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The answer says why, and so does the log; no tunnel is noted."""
    caplog.set_level("INFO")
    if made.request.host == "localhost":
        del made.request.headers["proxy-authorization"]
    tunnelling.http_connect(made)
    status, _, message = error_of(made.response)
    assert (status, EXCHANGES[made].answer) == (400, "E")
    assert says in message
    assert says in caplog.text
    assert CLIENT_KEY.reveal() not in caplog.text
    assert made.client_conn not in TUNNELS


def test_own_answer_e_for_a_tunnel_that_is_asked_for_by_tls(tunnelling: Admit) -> None:
    """Plain http inside it would look as if it had come by TLS, and several could be asked for on one connection."""
    for to in ("api.anthropic.com", "third.example"):
        made = connecting(to=to)
        made.client_conn.timestamp_tls_setup = 1.0
        tunnelling.http_connect(made)
        assert (error_of(made.response)[0], EXCHANGES[made].answer) == (400, "E")
        assert "http://" in error_of(made.response)[2]
        assert made.client_conn not in TUNNELS


@pytest.mark.parametrize("name", [b"Proxy-Authorization", b"proxy_authorization"])
def test_what_is_shown_to_a_proxy_goes_no_further(name: bytes) -> None:
    """Straight through, too: a client that takes this listener for the other one shows the key here."""
    shown = b"Basic " + base64.b64encode(b"flowpool:" + CLIENT_KEY.reveal().encode())
    made = flow(request("GET", "/v1/models", headers=[*HEADERS, (name, shown)]))
    exchange = met(made)
    assert (exchange.answer, exchange.path) == (None, Path.PASSED)
    assert exchange.own == tuple(field for field in HEADERS if field[0] == b"authorization")
    assert shown.decode() not in json.dumps(made.get_state(), default=repr)


def test_a_tunnel_that_did_not_stand_is_forgotten(tunnelling: Admit) -> None:
    """Nothing that follows on the connection is taken for what comes through it."""
    before, made = connecting(), connecting(to="127.0.0.1")
    tunnelling.http_connect(before)
    made.client_conn, made.request.port = before.client_conn, 3456
    tunnelling.http_connect(made)
    assert error_of(made.response)[0] == 400
    assert made.client_conn not in TUNNELS


def test_a_tunnel_whose_rules_fail_is_none(tunnelling: Admit, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault is answered 502, nothing is noted, and what was shown is on no flow."""

    def fails(_self: Forward, _flow: http.HTTPFlow) -> None:
        raise RuntimeError(CLIENT_KEY.reveal())

    monkeypatch.setattr(Forward, "connect", fails)
    made = connecting((b"authorization", CLIENT_TOKEN.encode()))
    tunnelling.http_connect(made)
    assert made.response is not None
    assert made.response.status_code == 502
    assert made.client_conn not in TUNNELS
    assert CLIENT_TOKEN not in json.dumps(made.get_state(), default=repr)


def through(
    admit: Admit, *fields: tuple[bytes, bytes], path: str = "/v1/messages", method: str = "POST"
) -> http.HTTPFlow:
    """A request that came through a tunnel to the vendor."""
    before = connecting()
    admit.http_connect(before)
    made = flow(request(method, path, headers=[(b"Host", b"api.anthropic.com"), *fields]), mode=FORWARD_MODE)
    made.client_conn = before.client_conn
    made.client_conn.timestamp_tls_setup, made.client_conn.sni = 1.0, "api.anthropic.com"
    return made


@pytest.mark.parametrize(("method", "path", "wanted"), [one for one in PATHS if one[2] is not Path.LOCAL])
def test_each_path_in_a_tunnel_is_sorted_as_elsewhere(tunnelling: Admit, method: str, path: str, wanted: Path) -> None:
    """Without a key of its own, for the tunnel has shown it; and what is meant for proxies goes no further."""
    own = (b"authorization", f"Bearer {CLIENT_TOKEN}".encode())
    made = through(tunnelling, own, (b"Proxy-Authorization", b"Basic eDp5"), path=path, method=method)
    exchange = met(made, tunnelling)
    assert (exchange.path, exchange.provider, made.response) == (wanted, ANTHROPIC, None)
    assert exchange.own == (own,)
    assert CLIENT_TOKEN not in json.dumps(made.get_state(), default=repr)


@pytest.mark.parametrize("name", ["authorization", "x-api-key", "cookie"])
@pytest.mark.parametrize("path", ["/v1/messages", "/api/oauth/profile"])
def test_own_answer_e_for_a_web_page_that_shows_the_placeholder_in_a_tunnel(
    tunnelling: Admit, name: str, path: str
) -> None:
    """Everybody knows it: with it a page would speak as the primary, also where the page may ask on its own login."""
    origin = (b"origin", b"https://evil.example")
    made = through(tunnelling, (name.encode(), b"x " + PLACEHOLDER.encode()), origin, path=path)
    assert met(made, tunnelling).answer == "E"
    assert "web pages" in error_of(made.response)[2]
    made = through(tunnelling, (name.encode(), b"x " + PLACEHOLDER.encode()), path=path)
    assert met(made, tunnelling).answer is None


@pytest.mark.parametrize("path", ["/_flowpool/health", "/_flowpool/status", "/x/../_flowpool/pin", "/v1/v1/messages"])
def test_own_answer_f_in_a_tunnel(tunnelling: Admit, path: str) -> None:
    """Our own paths are nobody's there, whatever is shown; a path that only looks pooled is told the vendor's address."""
    made = through(tunnelling, (b"x-flowpool-key", CLIENT_KEY.reveal().encode()), path=path)
    exchange = met(made, tunnelling)
    assert (exchange.answer, error_of(made.response)[0], exchange.path) == ("F", 404, Path.LOCAL)


def test_own_answer_e_for_plain_http_where_tunnels_are_asked(tunnelling: Admit) -> None:
    """A request that came through no opened tunnel is told what the address is for."""
    for before in (None, connecting(to="third.example")):
        made = flow(asked("api.anthropic.com", x_flowpool_key=CLIENT_KEY.reveal()), mode=FORWARD_MODE)
        if before is not None:
            tunnelling.http_connect(before)
            made.client_conn = before.client_conn
        exchange = met(made, tunnelling)
        assert (exchange.answer, exchange.provider) == ("E", None)
        assert "HTTPS_PROXY" in error_of(made.response)[2]


@pytest.mark.parametrize(("upgrade", "status"), [("websocket", 426), ("WebSocket", 426), ("h2c", 404), ("", 404)])
def test_own_answer_f_for_another_vendors_path(upgrade: str, status: int) -> None:
    """Its client's credential goes to no stranger; a WebSocket gets the answer after which it is asked by HTTP at once (X82)."""
    headers = {"upgrade": upgrade, "connection": "upgrade"} if upgrade else {}
    made = flow(asked(path="/backend-api/codex/responses", **headers))
    exchange = met(made)
    assert (exchange.answer, error_of(made.response)[0], exchange.path) == ("F", status, Path.LOCAL)
    assert made.response is not None
    assert ("close" in made.response.headers.get("connection", "")) is (status == 426)


def test_admission_that_fails_lets_nobody_in() -> None:
    """A fault while admitting answers 502 and leaves no secret behind."""
    made = flow()
    made.client_conn.peername = ("no address", 1)

    ADMIT.requestheaders(made)
    assert error_of(made.response)[0] == 502
    assert CLIENT_TOKEN not in json.dumps(made.get_state(), default=repr)
