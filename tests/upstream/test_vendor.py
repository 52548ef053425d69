"""The token endpoint rotates, refuses a second use, and does what it is told instead."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator

import pytest

from credentials.credential import parse
from tests.upstream import Upstream
from tests.upstream.vendor import PATH, TokenEndpoint, too_many


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream() as upstream:
        yield upstream
        assert upstream.faults == []


def call(upstream: Upstream, refresh: str) -> tuple[int, dict[str, object]]:
    """Ask for a new pair."""
    connection = http.client.HTTPConnection("127.0.0.1", upstream.port, timeout=10)
    body = json.dumps({"grant_type": "refresh_token", "refresh_token": refresh})
    connection.request("POST", PATH, body, {"content-type": "application/json"})
    answer = connection.getresponse()
    said: dict[str, object] = json.loads(answer.read())
    connection.close()
    return answer.status, said


def is_accepted(upstream: Upstream, access: str) -> bool:
    """Whether the upstream takes an access token."""
    connection = http.client.HTTPConnection("127.0.0.1", upstream.port, timeout=10)
    connection.request("GET", "/v1/models", headers={"authorization": f"Bearer {access}"})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status == 200


def test_a_refresh_token_is_good_once(upstream: Upstream) -> None:
    """The first use gives a pair, the second is refused; the old access token stays good until it is revoked."""
    endpoint = TokenEndpoint(upstream)
    pair = endpoint.issue("work")
    status, said = call(upstream, pair.refresh)
    assert (status, said["refresh_token"]) == (200, endpoint.latest["work"].refresh)
    assert call(upstream, pair.refresh) == (
        400,
        {"error": "invalid_grant", "error_description": "Refresh token not found or invalid"},
    )
    assert (endpoint.spent[pair.refresh], [one.status for one in endpoint.calls]) == (1, [200, 400])
    assert not any(one.overlapped for one in endpoint.calls)
    assert is_accepted(upstream, pair.access)
    assert is_accepted(upstream, str(said["access_token"]))
    endpoint.revoke("work")
    assert not is_accepted(upstream, pair.access)
    assert not is_accepted(upstream, str(said["access_token"]))


def test_an_access_token_ends(upstream: Upstream) -> None:
    """What lasts no time is refused at once, and its file says so."""
    endpoint = TokenEndpoint(upstream)
    pair = endpoint.issue("work", expires_in=0)
    assert not is_accepted(upstream, pair.access)
    found = parse("oauth", endpoint.login_file(pair, expires_in=60)).expires_at
    assert found is not None
    assert 50 < found.timestamp() - pair.expires_at < 70


def test_what_is_scripted_comes_first(upstream: Upstream) -> None:
    """And spends nothing."""
    endpoint = TokenEndpoint(upstream)
    pair = endpoint.issue("work")
    endpoint.script(too_many(45), lambda received: endpoint.exchange(received).named("mine"))
    assert call(upstream, pair.refresh)[0] == 429
    assert not endpoint.spent
    assert call(upstream, pair.refresh)[0] == 200
    assert endpoint.calls[-1].refresh == pair.refresh
