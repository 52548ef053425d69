"""Doctor says by which proxy and authorities the upstream is reached, or that it is not."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flowpool.findings import wayout
from flowpool.findings.finding import Finding, Level
from home.paths import Home
from home.tables import Anthropic, Outbound, Providers, Settings
from tests.upstream import Upstream
from tests.upstream.authority import Authority
from tests.upstream.tunnels import Tunnels


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """The network's."""
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def upstream(authority: Authority) -> Iterator[Upstream]:
    """One that speaks TLS by it."""
    with Upstream(tls=authority.server()) as found:
        yield found


def looked(upstream: Upstream, proxy: str = "", bundle: str = "") -> list[Finding]:
    """What is found of that way."""
    settings = Settings(
        providers=Providers(anthropic=Anthropic(upstream=upstream.url)),
        outbound=Outbound(proxy=proxy, ca_bundle=bundle),
    )
    folder = Path("/home/ann")
    return wayout.check(Home(config_folder=folder, state_folder=folder), settings)


def test_nothing_is_said_of_the_straight_way(upstream: Upstream) -> None:
    """Nor is anything asked."""
    assert looked(upstream) == []
    assert upstream.connections == 0


def test_a_way_that_leads_there_is_good(upstream: Upstream, authority: Authority) -> None:
    """Both parts are named; no credential is shown."""
    with Tunnels() as tunnels:
        (found,) = looked(upstream, tunnels.url, str(authority.bundle))
        assert tunnels.targets == [f"127.0.0.1:{upstream.port}"]
    by = f"the proxy {tunnels.url} and the authorities in {authority.bundle}"
    assert (found.level, found.message) == (Level.OK, f"{upstream.url} is reached by {by}; it answered 401")
    assert "authorization" not in {name.lower() for name, _ in upstream.requests[0].headers}


def test_a_way_that_leads_nowhere_fails(upstream: Upstream) -> None:
    """A proxy that refuses, and TLS that nobody trusts, each under its own name, with a command that shows it."""
    with Tunnels() as tunnels:
        (found,) = looked(upstream, tunnels.url)
        assert (found.level, "unable to get local issuer" in found.message) == (Level.FAIL, True)
        tunnels.answer(b"HTTP/1.1 403 Forbidden\r\n\r\n")
        (found,) = looked(upstream, tunnels.url)
    assert "refused with 403" in found.message
    assert found.mend == f"curl -sSI --proxy {tunnels.url} {upstream.url}"


def test_a_bundle_that_cannot_be_used_fails(upstream: Upstream) -> None:
    """Before anything is asked; what mends it opens the settings."""
    (found,) = looked(upstream, bundle="/nowhere/ca.pem")
    assert (found.level, "/nowhere/ca.pem cannot be read" in found.message) == (Level.FAIL, True)
    assert "config.toml" in found.mend
    assert upstream.connections == 0
