"""Services are reached straight or through a network's proxy, over TLS that is checked; what a proxy did is said of the proxy."""

import ssl
from http.client import HTTPSConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from credentials import web
from credentials.way import DIRECT, Way, authorities, connection, refused, unreached
from credentials.web import Question, UnreachableError, ask
from tests.upstream import Upstream, closed_port
from tests.upstream.authority import Authority
from tests.upstream.tunnels import Tunnels

HEADERS = {"x-secret": "PLANTED"}


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """One for all tests of this file."""
    return Authority(tmp_path_factory.mktemp("authority"))


def question(upstream: Upstream) -> Question:
    """A question that every upstream answers, with 401."""
    return Question(method="GET", url=f"{upstream.url}/v1/models", headers=HEADERS)


@pytest.mark.parametrize("way", [DIRECT, Way(proxy="http://192.0.2.1:3128")])
def test_only_this_machine_is_asked_without_tls(way: Way) -> None:
    """Any other service is asked over TLS, with certificates checked; this machine never through a proxy."""
    for url in ("https://api.anthropic.com", "https://127.0.0.1:1", "http://api.anthropic.com"):
        made = connection(urlsplit(url), way, 1)
        assert isinstance(made, HTTPSConnection)
        assert made._context.verify_mode is ssl.CERT_REQUIRED  # type: ignore[attr-defined]
        assert made._context.check_hostname  # type: ignore[attr-defined]
        assert made.host == ("192.0.2.1" if way.proxy else urlsplit(url).hostname)
    near = connection(urlsplit("http://[::1]:80"), way, 1)
    assert not isinstance(near, HTTPSConnection)
    assert near.host == "::1"


def test_authorities_are_added_to_the_usual_ones(authority: Authority) -> None:
    """None of them is lost."""
    usual = authorities(DIRECT).cert_store_stats()["x509"]

    assert authorities(Way(ca_bundle=str(authority.bundle))).cert_store_stats()["x509"] == usual + 1


def test_a_question_goes_through_the_proxy(authority: Authority) -> None:
    """As a tunnel to the service, which alone hears the question; the proxy sees where it goes, no more."""
    with Upstream(tls=authority.server()) as upstream, Tunnels() as tunnels:
        answer = ask(question(upstream), 20, Way(proxy=tunnels.url, ca_bundle=str(authority.bundle)))

        assert answer.status == 401
        assert tunnels.targets == [f"127.0.0.1:{upstream.port}"]
        assert b"PLANTED" not in b"".join(tunnels.heads)
        assert ("x-secret", "PLANTED") in upstream.requests[0].headers


def test_without_the_bundle_tls_fails_under_its_own_name(authority: Authority, tmp_path: Path) -> None:
    """Also where another authority is trusted; nothing was sent."""
    other = Authority(tmp_path, "other")
    with Upstream(tls=authority.server()) as upstream, Tunnels() as tunnels:
        for way in (DIRECT, Way(proxy=tunnels.url), Way(proxy=tunnels.url, ca_bundle=str(other.bundle))):
            with pytest.raises(UnreachableError, match=r"unable to get local issuer|self-signed") as caught:
                ask(question(upstream), 20, way)
            assert "proxy" not in str(caught.value)
            assert not caught.value.was_sent
        assert len(upstream.requests) == 0


@pytest.mark.parametrize(
    ("head", "says"),
    [
        (b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "refused with 407: it wants a login"),
        (b"HTTP/1.1 403 sk-ant-oat01-echo\r\n\r\n", "refused with 403; see"),
        (b"HTTP/1.1 502 Bad Gateway\r\n\r\n", "refused with 502; see"),
    ],
)
def test_a_refusal_is_the_proxys(head: bytes, says: str) -> None:
    """Its number is told, not its own words; nothing was sent, and no account is named."""
    with Upstream() as upstream, Tunnels() as tunnels:
        tunnels.answer(head)
        asked = Question(method="GET", url=upstream.url.replace("http:", "https:"), headers=HEADERS)
        with pytest.raises(UnreachableError) as caught:
            ask(asked, 20, Way(proxy=tunnels.url))

    assert f"your network's proxy at 127.0.0.1:{tunnels.port} {says}" in str(caught.value)
    assert "sk-ant" not in str(caught.value)
    assert not caught.value.was_sent


@pytest.mark.parametrize(
    ("head", "says"), [(None, r"no answer within 0\.2 s"), (b"hello\r\n\r\n", "what answers there is no HTTP")]
)
def test_a_proxy_that_makes_no_sense_is_named(monkeypatch: pytest.MonkeyPatch, head: bytes | None, says: str) -> None:
    """Silence and nonsense are its own; nothing was sent."""
    monkeypatch.setattr(web, "CONNECT", 0.2)
    with Tunnels() as tunnels:
        tunnels.answer(head)
        asked = Question(method="GET", url="https://api.anthropic.com", headers=HEADERS)
        with pytest.raises(UnreachableError, match=rf"proxy at 127\.0\.0\.1:{tunnels.port} gave no .*{says}") as caught:
            ask(asked, 20, Way(proxy=tunnels.url))
    assert not caught.value.was_sent


def test_a_proxy_that_is_not_there_is_named() -> None:
    """It is the proxy that refused, not the service."""
    asked = Question(method="GET", url="https://api.anthropic.com", headers=HEADERS)
    port = closed_port()
    with pytest.raises(
        UnreachableError, match=rf"proxy at 127\.0\.0\.1:{port} gave no connection \(Connection refused\)"
    ):
        ask(asked, 20, Way(proxy=f"http://127.0.0.1:{port}"))


@pytest.mark.parametrize(("status", "code"), [("407 x", "407"), ("5", "5"), ("", "nonsense"), ("<html>", "nonsense")])
def test_what_a_proxy_answers_is_told_by_its_number(status: str, code: str) -> None:
    """Whatever it says, the text stays one line with a way to go on."""
    assert f"refused with {code}" in refused("http://127.0.0.1:3128", status)
    assert unreached("127.0.0.1:3128", "no route") == (
        "your network's proxy at 127.0.0.1:3128 gave no connection (no route); see [outbound] proxy"
    )
