"""The status document: the Router's picture as plain JSON."""

import json
import os
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addons.status import status_of
from home.tables import Settings
from home.version import version
from routing.observations import AccountsChanged, Answered, Dispatched
from routing.readings import Reading, Status
from routing.router import Router
from routing.rules import Routing
from routing.snapshot import AccountPicture
from routing.words import Account
from tests.routing.made import ANN, BEN, EXCHANGE, NOON, OPUS, account, demand, limit, model_limit, pools, reading
from tests.routing.made import readings as some_readings

TOP = ["version", "running", "pid", "listen", "strategy", "next", "accounts", "conversations", "pins", "queued"]
ACCOUNT = [
    "id", "name", "provider", "kind", "enabled", "rank", "reserve_5h", "reserve_week", "cap", "primary", "email", "organization",
    "plan", "expires_at", "refresh_expires_at", "checked_at", "state", "because", "windows", "holds", "in_flight", "queued", "requests", "pressure",
]  # fmt: skip
WINDOW = ["key", "used", "resets_at", "status", "source", "taken_at"]


def router(*pool: Account) -> Router:
    """A Router that knows these accounts."""
    made = Router(Settings().rules)
    made.observe(AccountsChanged(accounts=pool))
    return made


def drawn(of: Router, settings: Settings | None = None) -> dict[str, Any]:
    """The document as a reader gets it: through JSON."""
    draw = status_of(of, settings or Settings(), lambda: "127.0.0.1:3456")
    made: dict[str, Any] = json.loads(json.dumps(draw(NOON)))
    return made


@given(pools, st.lists(some_readings, max_size=4))
def test_every_picture_is_json_with_the_same_keys(pool: tuple[Account, ...], seen: list[Reading]) -> None:
    """Whatever is known, the document has the keys that other tools rely on, in their order."""
    made = router(*pool)
    met = Answered(
        exchange=EXCHANGE,
        account=pool[0].id,
        demand=demand(),
        verdict=limit(),
        sent_at=NOON,
        at=NOON,
        readings=tuple(seen),
    )
    made.observe(met)

    document = drawn(made)
    assert list(document) == TOP
    assert [list(one) for one in document["accounts"]] == [ACCOUNT] * len(pool)
    assert all(list(window) == WINDOW for one in document["accounts"] for window in one["windows"])


def test_the_head_says_which_proxy_this_is() -> None:
    """Version, process, address and strategy are those of the proxy that answers."""
    document = drawn(router(), Settings(routing=Routing(strategy="perishing")))

    assert [document[name] for name in TOP] == [
        version(), True, os.getpid(), {"claude": "127.0.0.1:3456"}, "perishing", document["next"], [], 0, [], 0,
    ]  # fmt: skip
    assert set(document["next"].values()) == {None}


def test_next_is_told_by_name() -> None:
    """Whom a new conversation would get is told by the account's name, which a person knows, not by its id."""
    made = router(Account(id=ANN, name="work", provider="anthropic", kind=account().kind))

    assert set(drawn(made)["next"].values()) == {"work"}
    assert set(drawn(made)["next"]) >= {"opus", "sonnet", "haiku", "any"}


def test_a_refused_account_shows_why_and_until_when() -> None:
    """Windows, holds and counts are told as they stand, times in UTC to the millisecond."""
    made = router(account(ANN, rank=1), account(BEN, enabled=False))
    made.observe(Dispatched(exchange=EXCHANGE, account=ANN, demand=demand(), at=NOON))
    seen = (reading("7d", 1.0, resets=2, status=None, taken=0.0015),)
    for verdict in (limit(), model_limit()):
        met = Answered(
            exchange=EXCHANGE, account=ANN, demand=demand(), verdict=verdict, sent_at=NOON, at=NOON, readings=seen
        )
        made.observe(met)

    ann, ben = drawn(made)["accounts"]
    until = "2026-01-05T14:00:00.000+00:00"
    taken = (NOON + timedelta(milliseconds=1)).isoformat(timespec="milliseconds")
    assert ann["windows"] == [
        {"key": "7d", "used": 1.0, "resets_at": until, "status": None, "source": "answer", "taken_at": taken}
    ]
    assert sorted(ann["holds"], key=lambda hold: str(hold["scope"])) == [
        {"scope": "account", "until": until, "because": "row 13", "row": 13},
        {"scope": OPUS, "until": until, "because": "row 12", "row": 12},
    ]
    assert [ann[key] for key in ("id", "kind", "enabled", "rank", "state", "in_flight", "requests")] == [
        ANN, "oauth", True, 1, "held", 1, 1,
    ]  # fmt: skip
    assert (ben["state"], ben["windows"], ben["holds"]) == ("disabled", [], [])


@pytest.mark.parametrize("status", ["allowed", "allowed_warning", "rejected"])
def test_a_windows_status_is_the_providers_word(status: str) -> None:
    """The status is told in the provider's words, and an unknown reset as null."""
    made = router(account(ANN))
    seen = reading("5h", 0.25, resets=None, status=Status(status))
    met = Answered(
        exchange=EXCHANGE, account=ANN, demand=demand(), verdict=limit(), sent_at=NOON, at=NOON, readings=(seen,)
    )
    made.observe(met)

    (window,) = drawn(made)["accounts"][0]["windows"]
    assert (window["status"], window["used"], window["resets_at"]) == (status, 0.25, None)


def test_what_else_there_is_to_say_of_an_account_stands_after_its_picture() -> None:
    """Each teller adds its keys, for each account and the moment that is drawn."""
    told: list[tuple[str, object]] = []

    def tell(picture: AccountPicture, now: datetime) -> dict[str, Any]:
        told.append((picture.account.name, now))
        return {"prime": None}

    made = router(account(ANN), account(BEN))
    document = status_of(made, Settings(), lambda: "", tell, lambda *_: {"measuring": 1})(NOON)

    assert told == [(ANN, NOON), (BEN, NOON)]
    assert all(list(one)[-2:] == ["prime", "measuring"] for one in document["accounts"])
