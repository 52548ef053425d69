"""The way out: a network's proxy and an authority of its own between the pool and its upstream."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.client import Request
from tests.e2e.harness import Member, Proxy
from tests.e2e.pool import Pool, open_pool, ranked
from tests.e2e.tunnelled import Tunnelled
from tests.flowpool.cli import Shell
from tests.upstream import Upstream, as_json, bad_token, closed_port, limit, login, ok, plant
from tests.upstream.authority import Authority
from tests.upstream.tunnels import Tunnels

REFUSED = b"HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\n\r\n"


@dataclass
class Network:
    """An upstream that speaks TLS by the network's authority, behind the network's proxy."""

    pool: Pool
    tunnels: Tunnels

    def through(self) -> int:
        """How many tunnels to the upstream were asked for; fails when one went elsewhere."""
        targets = self.tunnels.targets
        assert set(targets) <= {f"127.0.0.1:{self.pool.upstream.port}"}
        return len(targets)


type Make = Callable[..., Network]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """The network's."""
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def make(tmp_path: Path, authority: Authority) -> Iterator[Make]:
    """A function that starts a pool in such a network."""
    with ExitStack() as stack:

        def start(*members: Member, bundle: Path | None = authority.bundle, **settings: dict[str, Any]) -> Network:
            tunnels = stack.enter_context(Tunnels())
            out = {"proxy": tunnels.url} | ({"ca_bundle": str(bundle)} if bundle else {})
            tables: dict[str, dict[str, Any]] = {
                "outbound": out,
                "retry": {"connect": [0.05], "renewal_s": 20},
                **settings,
            }
            chosen = members or ranked("work", "home")
            return Network(
                stack.enter_context(open_pool(tmp_path, chosen, settings=tables, tls=authority.server())), tunnels
            )

        yield start


def test_turns_and_replays_go_through_the_proxy(make: Make) -> None:
    """A refusal and its replay take one tunnel, so does what follows on the same connection; nothing goes past it."""
    network = make()
    pool = network.pool
    pool.upstream.script("work", limit("7d"))
    with pool.client() as client:
        assert client.ask(pool.turn()).text == "This is home speaking."
        assert client.ask(pool.turn()).text == "This is home speaking."
    assert pool.upstream.requests.accounts() == ["work", "home", "home"]
    assert network.through() == pool.upstream.connections == 1
    assert not any(b"authorization" in head.lower() for head in network.tunnels.heads)


def test_a_stream_flows_through_the_proxy_event_by_event(make: Make) -> None:
    """The first event arrives while the last is still to come; a tunnel that is cut then is row 6."""
    network = make()
    pool = network.pool
    pool.upstream.script("work", ok("One two.").wait("rest", after="content_block_start"))
    with pool.client() as client:
        client.send(pool.turn())
        begun = client.begin()
        begun.until(b"event: content_block_start")
        network.tunnels.cut()
        reply = begun.rest()
    assert reply.status == 200
    assert b"event: error" in reply.body
    pool.upstream.release("rest")
    assert pool.holds() == {}


def test_what_the_proxy_asks_itself_goes_there_too(make: Make) -> None:
    """A login that is refused is renewed before the client notices: the token endpoint is reached by a tunnel, too."""
    first, second = plant("work"), plant("work")
    member = Member(name="work", secret=login(first), kind="oauth", rank=1)
    network = make(member)
    upstream = network.pool.upstream
    upstream.add("work", second)
    upstream.script("work", bad_token())
    pair = {"access_token": second, "refresh_token": second.replace("oat01", "ort01"), "expires_in": 28_800}
    upstream.default("", as_json("pair", pair | {"token_type": "Bearer"}), path="/v1/oauth/token")
    assert network.pool.ask(network.pool.turn()).text == "This is work speaking."
    paths = [one.path.partition("?")[0] for one in upstream.requests]
    assert paths == ["/v1/messages", "/v1/oauth/token", "/v1/messages"]
    assert any(second in value for _, value in upstream.requests[2].headers)
    assert network.through() == upstream.connections
    assert not any(b"sk-ant" in head for head in network.tunnels.heads)


def test_an_idle_account_is_asked_through_the_proxy(make: Make) -> None:
    """Its use is, as any question of our own."""
    inner = {"accessToken": plant("work", "oauth"), "scopes": ["user:inference", "user:profile"]}
    network = make(Member(name="work", secret=json.dumps({"claudeAiOauth": inner}), kind="oauth", rank=1))
    network.tunnels.wait_for(1)
    network.pool.upstream.requests.wait_for(1)
    assert network.pool.upstream.requests[0].path == "/api/oauth/usage"
    assert network.through() == network.pool.upstream.connections


def test_a_command_asks_through_the_proxy(make: Make) -> None:
    """What adds an account has it checked on the same way."""
    network = make()
    before = network.through()
    token = plant("third")
    network.pool.upstream.add("third", token)
    done = Shell(network.pool.proxy.home, verifies=True).run("add", "third", "--kind", "setup-token", given=token)
    assert "checked: accepted" in done.stdout
    assert network.through() == before + 1


@pytest.mark.parametrize(
    ("head", "says"),
    [
        (REFUSED, r"refused with 407: it wants a login, which flowpool does not give"),
        (b"HTTP/1.1 403 Forbidden\r\n\r\n", "refused with 403"),
        (b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 5\r\n\r\nhello", "refused with 502"),
        (b"nonsense\r\n\r\n", "gave no connection"),
        (None, "gave no connection"),
    ],
    ids=["407", "403", "502", "nonsense", "silence"],
)
def test_row_1_a_proxy_that_opens_no_tunnel_is_what_is_blamed(make: Make, head: bytes | None, says: str) -> None:
    """Nothing was sent: tried once more, then a 502 that names the proxy; no account is held, and the next turn is served."""
    network = make(limits={"connect_s": 0.5})
    pool = network.pool
    network.tunnels.always(head)
    reply = pool.ask(pool.turn())
    assert (reply.status, reply.error[0]) == (502, "api_error")
    assert f"your network's proxy at 127.0.0.1:{network.tunnels.port} {says}" in reply.error[1]
    assert not re.search(r"\bwork\b|\bhome\b|flowpool login", reply.error[1])
    assert network.through() == 2
    assert pool.holds() == {}
    network.tunnels.always(b"")
    assert pool.ask(pool.turn()).status == 200


def test_row_1_a_proxy_that_is_not_there_is_what_is_blamed(make: Make, authority: Authority) -> None:
    """Its address is named with what the system said."""
    port = closed_port()
    network = make(outbound={"proxy": f"http://127.0.0.1:{port}", "ca_bundle": str(authority.bundle)})
    reply = network.pool.ask(network.pool.turn())
    assert reply.status == 502
    assert f"your network's proxy at 127.0.0.1:{port} gave no connection" in reply.error[1]
    assert len(network.pool.upstream.requests) == 0


def test_row_1_an_authority_that_is_not_trusted_is_a_failure_of_tls(make: Make) -> None:
    """Under its own name, which is not the proxy's, with the setting that would mend it."""
    network = make(bundle=None)
    reply = network.pool.ask(network.pool.turn())
    assert reply.status == 502
    assert "Certificate verify failed" in reply.error[1]
    assert "[outbound] ca_bundle" in reply.error[1]
    assert "your network's proxy" not in reply.error[1]
    assert len(network.pool.upstream.requests) == 0


def test_a_client_that_leaves_while_the_proxy_is_silent_leaves_nothing(make: Make) -> None:
    """Its tunnel is given up with it."""
    network = make(limits={"connect_s": 20})
    pool = network.pool
    network.tunnels.answer(None)
    with pool.client() as client:
        client.send(pool.turn())
        network.tunnels.wait_for(1)
        client.abort()
    pool.settle()
    assert pool.ask(pool.turn()).status == 200


def test_a_bundle_is_trusted_without_a_proxy_too(tmp_path: Path, authority: Authority) -> None:
    """As in a network that opens TLS on the way; the file that mitmproxy gets is ours alone."""
    settings = {"outbound": {"ca_bundle": str(authority.bundle)}}
    with open_pool(tmp_path, ranked("work"), settings=settings, tls=authority.server()) as pool:
        assert pool.ask(pool.turn()).status == 200
        made = pool.proxy.home / "authorities.pem"
        assert made.stat().st_mode & 0o777 == 0o600
        assert authority.bundle.read_bytes() in made.read_bytes()


def test_what_is_asked_without_tls_never_takes_the_proxy(tmp_path: Path) -> None:
    """An upstream on this machine is reached straight."""
    with Tunnels() as tunnels:
        with open_pool(tmp_path, ranked("work"), settings={"outbound": {"proxy": tunnels.url}}) as pool:
            assert pool.ask(pool.turn()).status == 200
        assert tunnels.heads == []


def test_forward_mode_takes_the_proxy_opened_or_blind(tmp_path: Path, authority: Authority) -> None:
    """What is opened goes to the upstream by a tunnel of ours; what is not, to its own host, whose name is the proxy's to look up."""
    with Upstream({}, tls=authority.server("third.example")) as third, Tunnels(("127.0.0.1", third.port)) as tunnels:
        settings = {
            "listen": {"forward": f"127.0.0.1:{closed_port()}"},
            "outbound": {"proxy": tunnels.url, "ca_bundle": str(authority.bundle)},
        }
        with open_pool(tmp_path, ranked("work", "home"), settings=settings, tls=authority.server()) as pool:
            with Tunnelled(pool.proxy.forward, authority.bundle, "third.example", 8443) as client:
                assert client.ask(Request(method="GET", path="/x")).status == 401
            assert len(third.requests) == 1
            assert tunnels.targets == ["third.example:8443"]
            tunnels.leads_to = None
            pool.upstream.script("work", limit("7d"))
            with Tunnelled(pool.proxy.forward, pool.proxy.ca) as client:
                assert client.ask(pool.turn()).text == "This is home speaking."
            assert tunnels.targets[1:] == [f"127.0.0.1:{pool.upstream.port}"]


@pytest.mark.parametrize("program", ["mitmdump", "flowpool serve"])
@pytest.mark.parametrize(("text", "says"), [(None, "cannot be read: No such file"), ("hello", "is no PEM file")])
def test_a_bundle_that_cannot_be_used_ends_the_start(tmp_path: Path, program: Any, text: str | None, says: str) -> None:
    """With the setting's name, and 2."""
    path = tmp_path / "authorities"
    if text is not None:
        path.write_text(text)
    settings = {"outbound": {"ca_bundle": str(path)}}
    with Upstream() as upstream:
        ended = Proxy(tmp_path, upstream, ranked("work"), settings=settings, program=program, told_mode=True).exits()
    assert ended.code == 2
    assert "outbound.ca_bundle" in ended.err
    assert says in ended.err
    assert "Traceback" not in ended.err
