"""addons/bodies.py: what is taken down of an exchange; tests/e2e/test_bodies.py shows it with a real proxy."""

from pathlib import Path
from typing import Any

import pytest
from mitmproxy import http

from addons.bodies import Bodies
from addons.requestlog import RequestLog
from home.tables import Log
from routing.relogin import Renewal
from routing.transport import Failure
from tests.addons.made import CLIENT_TOKEN, request, token
from tests.addons.stories import Pool
from tests.addons.test_route import NO_RETRY, WAITLESS
from tests.upstream import bad_token, html_200, limit, ok_json, overloaded, stream_error


class Before:
    """Two addons as one: each hook of the first, then the second's."""

    def __init__(self, first: Any, second: Any) -> None:
        self._both = first, second

    def __getattr__(self, name: str) -> Any:
        def both(flow: http.HTTPFlow) -> None:
            for one in self._both:
                getattr(one, name)(flow)

        return both


def recording(folder: Path, *names: str, **settings: Any) -> tuple[Pool, Bodies]:
    """A pool whose exchanges are taken down into a folder; done() writes them."""
    pool = Pool(*names, **settings)
    bodies = Bodies(Log(bodies=str(folder)), pool.accounts, pool.signer._credentials)
    pool.route = Before(bodies, pool.route)  # type: ignore[assignment]
    pool.log = RequestLog(pool.accounts, tell=[bodies.ended])
    bodies.load(None)
    return pool, bodies


def only(folder: Path) -> str:
    """The text of the one exchange that was written."""
    (path,) = folder.iterdir()
    return path.read_text()


def test_each_attempt_is_taken_down(tmp_path: Path) -> None:
    """With its account and what came; the last answer, which the client got, stands once."""
    pool, bodies = recording(tmp_path, "work", "home")
    turn = (
        pool.asks().sent_on("work").gets(limit("7d")).sent_on("home").gets(ok_json(f"{token('work')} {CLIENT_TOKEN}"))
    )
    turn.relays(200)
    bodies.done()
    text = only(tmp_path)

    assert "##### attempt 1 on work" in text
    assert '"rate_limit_error"' in text
    assert "##### attempt 2 on home" in text
    assert text.endswith("##### the client got the answer of attempt 2\n")
    assert "[masked] [masked]" in text
    assert token("work") not in text
    assert CLIENT_TOKEN not in text


def test_an_attempt_that_is_still_thought_about_is_taken_down_once(tmp_path: Path) -> None:
    """A refused login's request waits for its renewal, and is asked about again."""
    pool, bodies = recording(tmp_path, "work", wait=WAITLESS)
    pool.renewals.standing = None
    turn = pool.asks().sent_on("work").gets(bad_token())
    turn.chooses()
    pool.renewals.standing = Renewal.NONE
    turn.chooses().responds()
    bodies.done()

    assert only(tmp_path).count('"authentication_error"') == 1


def test_an_attempt_without_an_answer_says_why(tmp_path: Path) -> None:
    """And the client got an answer of our own."""
    pool, bodies = recording(tmp_path, "work", retry=NO_RETRY)
    pool.asks().sent_on("work").fails(Failure.BROKEN, "cut by the wall").relays(502)
    bodies.done()
    text = only(tmp_path)

    assert "(cut by the wall)\n\n##### the client got\n502 Bad Gateway\n" in text


def test_an_attempt_whose_body_was_not_read_says_so(tmp_path: Path) -> None:
    """Its head alone decided, and its head alone is known."""
    pool, bodies = recording(tmp_path, "work", retry=NO_RETRY)
    pool.asks().sent_on("work").gets(html_200()).responds()
    bodies.done()

    assert "200 OK\ncontent-type: text/html" in only(tmp_path)
    assert "(its body was not read)" in only(tmp_path)


def test_a_stream_that_began_with_an_error_is_told(tmp_path: Path) -> None:
    """Its event stands for its body."""
    pool, bodies = recording(tmp_path, "work", "home")
    turn = pool.asks().sent_on("work").gets(stream_error("overloaded_error"))
    while turn.exchange.account == "work" and turn.exchange.pause is not None:
        turn.exchange.paused_at -= 100
        turn.chooses().sent_on("work").gets(overloaded())
    turn.breaks()
    bodies.done()
    text = only(tmp_path)

    assert "event: error\ndata: {" in text
    assert "(its stream began with this error)" in text


def test_other_paths_are_not_taken_down(tmp_path: Path) -> None:
    """Catalogues among them."""
    pool, bodies = recording(tmp_path, "work")
    turn = pool.asks(request("GET", "/v1/models"))
    assert turn.exchange.record is None
    turn.sent_on("client").begins(ok_json("x")).responds()
    bodies.done()

    assert list(tmp_path.iterdir()) == []


def test_a_record_ends_with_its_exchange(tmp_path: Path) -> None:
    """Nothing that was said is held longer."""
    pool, bodies = recording(tmp_path, "work")
    turn = pool.asks().sent_on("work").gets(ok_json("x")).relays(200)
    bodies.done()

    assert turn.exchange.record is None


def test_a_fault_of_ours_is_not_the_clients(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It gets its answer; the exchange is lost, and the log says so."""
    pool, bodies = recording(tmp_path, "work")
    monkeypatch.setattr(bodies, "_name", lambda _: 1 / 0)
    pool.asks().sent_on("work").gets(ok_json("x")).relays(200)
    bodies.done()

    assert list(tmp_path.iterdir()) == []
    assert "cannot be taken down" in caplog.text
