"""`flowpool why`: what a real proxy says of a request, and what is left of it after a restart."""

from __future__ import annotations

import json
from typing import Any

from tests import command
from tests.e2e.conftest import Make
from tests.e2e.pool import Pool
from tests.upstream import limit, overloaded, silent


def flowpool(pool: Pool, *arguments: str) -> str:
    """What the command says."""
    done = command.run(arguments, pool.proxy.env() | {"COLUMNS": "100"})
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def told(pool: Pool, request: str = "last") -> dict[str, Any]:
    """The story of a request."""
    document: dict[str, Any] = json.loads(flowpool(pool, "why", request, "--json"))
    return document


def test_a_request_that_was_moved_is_explained_then_and_after_a_restart(make: Make) -> None:
    """Whom it asked, who might serve at each choice and what it cost; the state tells the same, and no secret anywhere."""
    pool = make("work", "home", "third")
    pool.upstream.script("work", limit("7d", resets_in=3600))
    pool.upstream.script("home", overloaded())
    request = pool.turn()
    assert pool.ask(request).status == 200
    story = told(pool)

    assert (story["kept"], story["account"], story["ended"], story["stream"]) == (True, "home", "complete", True)
    assert (story["size"], story["warm"], story["heartbeats"]) == (len(request.body), None, 0)
    first, hop, wait, again = story["choices"]
    assert [(one["kind"], one["account"]) for one in story["choices"]] == [
        ("use", "work"),
        ("use", "home"),
        ("wait", "home"),
        ("use", "home"),
    ]
    assert [(one["account"], one["may"]) for one in first["accounts"]] == [
        ("work", True),
        ("home", True),
        ("third", True),
    ]
    assert [(one["account"], one["may"], one["order"]) for one in hop["accounts"]] == [
        ("home", True, 1),
        ("third", True, 2),
        ("work", False, None),
    ]
    assert "7d limit until" in hop["accounts"][-1]["because"]
    assert hop["accounts"][-1]["windows"]["7d"] == 1.0
    assert (wait["accounts"], again["accounts"]) == (None, None)
    assert [(one["account"], one["row"], one["status"]) for one in story["attempts"]] == [
        ("work", 13, 429),
        ("home", 21, 529),
        ("home", 8, 200),
    ]
    assert story["attempts"][2]["waited_ms"] > 0
    assert story["usage"]["output"]

    screen = flowpool(pool, "why", story["id"][:6])
    for word in ("overloaded, row 21", "cost in tokens", story["id"], "hop: work refused: 7d limit until"):
        assert word in screen
    assert max(map(len, screen.splitlines())) <= 100

    pool.proxy.restart()
    assert told(pool, story["id"]) == told(pool) == story
    assert pool.proxy.leaks(pool.token) == []
    assert flowpool(pool, "why", "last") == screen


def test_a_request_in_flight_is_explained_while_it_hangs(make: Make) -> None:
    """Whom it waits for, and why there: it is the last one that came."""
    pool = make("work", settings={"limits": {"headers_s": 60}})
    pool.upstream.script("work", silent())
    with pool.client() as client:
        client.send(pool.turn())
        pool.upstream.requests.wait_for(1)
        story = told(pool)
        assert (story["ended"], story["status"], story["attempts"]) == ("in_flight", None, [])
        assert [(one["kind"], one["account"]) for one in story["choices"]] == [("use", "work")]
        assert "in flight" in flowpool(pool, "why", story["id"])
    pool.settle()
    assert told(pool, story["id"])["ended"] == "client_left"
