"""Pins in a running proxy, over a restart, and by a launch."""

from __future__ import annotations

from dataclasses import replace

from home import accounts as book
from routing.words import Reserves
from tests.e2e.client import Request
from tests.e2e.conftest import Make
from tests.e2e.harness import Member
from tests.e2e.instructions import pin
from tests.e2e.pool import Pool
from tests.upstream import healthy, limit, ok

OWN = "11111111-2222-4333-8444-555555555555"
OTHER = "21111111-2222-4333-8444-555555555555"


def served(pool: Pool, request: Request) -> str:
    """Who served it."""
    reply = pool.ask(request)
    assert reply.status == 200
    return reply.text.removeprefix("This is ").removesuffix(" speaking.")


def test_pins_survive_a_restart(make: Make) -> None:
    """Of all and of a session, also when the proxy is killed; status tells of both."""
    pool = make("work", "home", "third")
    pin(pool, "home")
    pin(pool, "third", session=OWN)
    assert [served(pool, pool.turn()), served(pool, pool.turn(session=OWN))] == ["home", "third"]
    for kill in (False, True):
        pool.settle()
        pool.proxy.restart(kill=kill)
        assert [served(pool, pool.turn()), served(pool, pool.turn(session=OWN))] == ["home", "third"]
        told = [(one["session"], one["accounts"]) for one in pool.proxy.status()["pins"]]
        assert told == [(None, ["home"]), (OWN, ["third"])]
    pin(pool)
    assert served(pool, pool.turn()) == "work"


def test_a_switch_moves_who_runs_and_yields_at_a_limit(make: Make) -> None:
    """The client notices neither."""
    pool = make("work", "home")
    assert served(pool, pool.turn(session=OTHER)) == "work"
    pin(pool, "home", moves=True)
    assert served(pool, pool.turn(session=OTHER)) == "home"
    pool.upstream.script("home", limit("7d"))
    assert served(pool, pool.turn(session=OTHER)) == "work"
    assert pool.proxy.status()["pins"][0]["because"].startswith("yields: home has no room (7d limit")


def test_a_launch_goes_to_its_account_and_its_header_no_further(make: Make) -> None:
    """One that names nobody is served all the same, and said once."""
    pool = make("work", "home")
    request = pool.turn(session=OWN)
    launched = replace(request, headers=(*request.headers, ("x-flowpool-pin", "home")))
    assert served(pool, launched) == "home"
    wrong = replace(request, headers=(*pool.turn(session=OTHER).headers, ("x-flowpool-pin", "nobody")))
    for _ in range(2):
        assert served(pool, wrong) in {"work", "home"}
    assert not [one for one in pool.upstream.requests if one.header("x-flowpool-pin")]
    assert pool.proxy.log_text().count("launched to use the account nobody") == 1


def test_a_launch_goes_before_a_switch(make: Make) -> None:
    """Of all that goes out with it; what its session asks without it moves, and says nothing of a launch any more."""
    pool = make("work", "home")
    request = pool.turn(session=OWN)
    launched = replace(request, headers=(*request.headers, ("x-flowpool-pin", "work")))
    assert served(pool, launched) == "work"
    pin(pool, "home", moves=True)
    assert [served(pool, one) for one in (launched, request, launched)] == ["work", "home", "work"]
    assert [(one["session"], one["launch"]) for one in pool.proxy.status()["pins"]] == [(None, False), (OWN, True)]
    assert served(pool, request) == "work"  # a pin of all moves it once: now it is warm here
    assert [one["session"] for one in pool.proxy.status()["pins"]] == [None]


def test_a_session_is_pinned_by_the_beginning_that_why_shows(make: Make) -> None:
    """Also after a restart, by what the ledger has of its conversation."""
    pool = make("work", "home")
    assert served(pool, pool.turn(session=OWN)) == "work"
    pool.settle()
    (line,) = pool.proxy.requests(1)
    pin(pool, "home", session=OWN[:13])
    assert served(pool, pool.turn(session=OWN)) == "home"
    pin(pool, session=OWN[:13])
    pool.settle()
    pool.proxy.restart()
    pin(pool, "work", session=line["conversation"][:8])
    told = [(one["session"], one["accounts"]) for one in pool.proxy.status()["pins"]]
    assert told == [(line["conversation"], ["work"])]


def test_a_reserve_is_read_while_the_proxy_runs(make: Make) -> None:
    """It keeps others away, and serves who is pinned there."""
    pool = make(
        members=[
            Member(name=name, secret=f"sk-ant-oat01-{name}-0123456789", rank=at)
            for at, name in enumerate(("work", "home"))
        ]
    )
    pool.upstream.default("work", ok("This is work speaking.", headers=healthy(0.1, 0.9)))
    assert served(pool, pool.turn()) == "work"
    path = pool.proxy.home / "accounts.toml"
    book.edit(path, lambda known: (replace(known[0], reserves=Reserves(week=0.2)), *known[1:]))
    pool.proxy.wait_log("work holds back")
    assert served(pool, pool.turn()) == "home"
    work = pool.proxy.account("work")
    assert (work["state"], work["reserve_week"]) == ("held", 0.2)
    assert work["because"] == "at its reserve: 7d 90% used, 20% kept for pins"
    pin(pool, "work", session=OWN)
    assert served(pool, pool.turn(session=OWN)) == "work"
