"""Control: what is asked under /_flowpool/, by whom, and what is answered."""

import json
from datetime import datetime
from typing import Any

import pytest
from mitmproxy import http

from addons.control import Control
from addons.exchange import EXCHANGES, Path
from credentials.secret import Secret
from tests.addons.made import error_of, exchange, flow, known, request

KEY = "the-key-of-this-proxy"
DOCUMENT = {"running": True, "accounts": [{"name": "wörk"}]}


def status(now: datetime) -> dict[str, Any]:
    """A status document that tells when it was drawn."""
    assert now.tzinfo is not None
    return DOCUMENT


CONTROL = Control(Secret(KEY), status)


def asked(path: str, *, key: str = KEY, method: str = "GET") -> http.HTTPFlow:
    """A flow for one of our paths that control has seen."""
    made = flow(request(method, path, content=b""))
    known(made, Path.LOCAL, key=key)
    CONTROL.request(made)
    return made


def document(made: http.HTTPFlow) -> tuple[int, Any]:
    """The status and the JSON of an answer that nobody may keep."""
    assert made.response is not None
    assert made.response.headers["content-type"] == "application/json"
    assert made.response.headers["cache-control"] == "no-store"
    return made.response.status_code, json.loads(made.response.content or b"")


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("key", [KEY, "", "wrong"])
@pytest.mark.parametrize("query", ["", "?", "?a=1"])
def test_health_is_open(method: str, key: str, query: str) -> None:
    """Anybody on this machine may ask whether the proxy lives."""
    assert document(asked(f"/_flowpool/health{query}", key=key, method=method)) == (200, {"status": "ok"})


@pytest.mark.parametrize("query", ["", "?a=1"])
def test_the_key_opens_the_status(query: str) -> None:
    """Who shows the key gets the document."""
    assert document(asked(f"/_flowpool/status{query}")) == (200, DOCUMENT)


@pytest.mark.parametrize("key", ["", "wrong", KEY.upper(), KEY + " ", KEY[:-1], "schlüssel", "\udcff\udcfe"])
@pytest.mark.parametrize("path", ["/_flowpool/status", "/_flowpool/", "/_flowpool", "/_flowpool/nothing"])
def test_without_the_key_nothing_else_opens(path: str, key: str) -> None:
    """A wrong key is own answer E, also where there is nothing: nobody learns what there is."""
    made = asked(path, key=key)

    assert EXCHANGES[made].answer == "E"
    assert error_of(made.response)[:2] == (400, "invalid_request_error")
    assert made.response is not None
    assert made.response.headers["x-should-retry"] == "false"
    assert KEY not in str(made.response.content)


@pytest.mark.parametrize(
    "path",
    [
        "/_flowpool",
        "/_flowpool/",
        "/_flowpool/nothing",
        "/_flowpool/STATUS",
        "//_flowpool/status",
        "/%5fflowpool/health",
    ],
)
def test_what_is_not_there_is_not_found(path: str) -> None:
    """Own answer F: another path under ours, or ours in disguise, is 404."""
    made = asked(path)

    assert EXCHANGES[made].answer == "F"
    assert error_of(made.response)[:2] == (404, "not_found_error")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", ["/_flowpool/health", "/_flowpool/status"])
def test_only_reading_is_answered(method: str, path: str) -> None:
    """Every other method is 404, with or without the key."""
    assert error_of(asked(path, method=method).response)[0] == 404


@pytest.mark.parametrize("path", [Path.POOLED, Path.PASSED])
def test_other_paths_are_left_alone(path: Path) -> None:
    """What is not ours is none of control's business."""
    made = flow()
    known(made, path)

    CONTROL.request(made)
    assert made.response is None


def test_a_flow_that_admission_never_saw_is_left_alone() -> None:
    """Without an exchange nothing is answered."""
    made = flow(request("GET", "/_flowpool/health"))

    CONTROL.request(made)
    assert made.response is None


def test_what_was_answered_stays_answered() -> None:
    """A request that admission refused keeps that answer."""
    made = flow(request("GET", "/_flowpool/status"))
    EXCHANGES[made] = exchange(Path.LOCAL, key=KEY)
    made.response = http.Response.make(400)

    CONTROL.request(made)
    assert made.response.status_code == 400
