"""Tests of routing/observations.py."""

from typing import get_args

from routing.gauges import Gauge
from routing.health import Standing
from routing.observations import Answered, Observation
from routing.remembered import Remembered
from routing.router import Router
from routing.rules import Rules
from tests.routing.made import ANN, EXCHANGE, NOON, demand, limit, trail


def test_the_router_takes_every_kind_of_observation() -> None:
    """Each kind is taken, also by a Router that knows no account."""
    router = Router(Rules())
    known = {
        "accounts": (),
        "exchange": EXCHANGE,
        "account": ANN,
        "demand": demand(),
        "verdict": limit(),
        "sent_at": NOON,
        "at": NOON,
        "trail": trail(),
        "remembered": Remembered(),
        "because": "why",
        "until": None,
        "bars": True,
        "standing": Standing.INVALID,
        "gauge": Gauge(),
    }

    for kind in get_args(Observation.__value__):
        router.observe(kind(**{name: known[name] for name in kind.__match_args__ or kind.__slots__ if name in known}))

    assert router.snapshot(NOON).accounts == ()


def test_an_answer_may_carry_no_readings() -> None:
    """Readings are optional: a bare 429 has none."""
    told = Answered(exchange=EXCHANGE, account=ANN, demand=demand(), verdict=limit(), sent_at=NOON, at=NOON)

    assert told.readings == ()
