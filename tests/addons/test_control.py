"""Control: what is asked under /_flowpool/, by whom, and what is answered."""

import asyncio
import json
import os
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path as FilePath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mitmproxy import http

from addons.accounts import Accounts
from addons.control import LARGEST, Control
from addons.exchange import EXCHANGES, Path
from addons.life import CannotRestartError
from addons.recent import Recent
from addons.watch import Found
from credentials.credential import Credential
from credentials.memory import MemoryStore
from credentials.secret import Secret
from home import accounts as book
from home.settings import Settings
from home.state.errors import StateError
from routing.router import Router
from routing.words import AccountId
from tests.addons.lives import Lived
from tests.addons.made import accounts, error_of, exchange, flow, known, request, token

KEY = "the-key-of-this-proxy"
DOCUMENT = {"running": True, "accounts": [{"name": "wörk"}]}


def status(now: datetime) -> dict[str, Any]:
    """A status document that tells when it was drawn."""
    assert now.tzinfo is not None
    return DOCUMENT


def stocked(*names: str) -> MemoryStore:
    """A store with these accounts' secrets."""
    store = MemoryStore()
    for name in names:
        store.put(name, Credential(kind="oauth", access=Secret(token(name))))
    return store


def control(
    path: FilePath = FilePath("none"), *requests: str, store: MemoryStore | None = None
) -> tuple[Control, Accounts]:
    """Control of a pool with the account work, whose last requests have these ids."""
    known_ones = tuple(accounts("work").values())
    router = Router(Settings().rules)
    pool = Accounts(known_ones, {}, router=router, path=path, store=store or MemoryStore(), wake=lambda: None)
    recent = Recent()
    for one in requests:
        recent.add({"id": one})

    def find(beginning: str, most: int) -> list[dict[str, Any]]:
        return [{"id": beginning, "most": most}]

    return Control(Secret(KEY), status, pool, recent, life=LIVED.life(), find=find), pool


LIVED = Lived()
CONTROL, POOL = control(FilePath("none"), "r1", "r2", "r3")


def asked(
    path: str, *, key: str = KEY, method: str = "GET", content: bytes = b"", of: Control = CONTROL
) -> http.HTTPFlow:
    """A flow for one of our paths that control has seen."""
    made = flow(request(method, path, content=content))
    known(made, Path.LOCAL, key=key)
    asyncio.run(answered(of, made))
    return made


async def answered(of: Control, made: http.HTTPFlow) -> None:
    """Let control see a flow."""
    answer = of.request(made)
    assert answer is not None
    await answer


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
    told = document(asked(f"/_flowpool/health{query}", key=key, method=method))
    assert told == (200, {"status": "ok", "pid": os.getpid()})


@pytest.mark.parametrize("query", ["", "?a=1"])
def test_the_key_opens_the_status(query: str) -> None:
    """Who shows the key gets the document, and what is wrong with the files."""
    assert document(asked(f"/_flowpool/status{query}")) == (200, DOCUMENT | {"notices": []})
    POOL.take(Found(faults=("a line",)))
    assert document(asked(f"/_flowpool/status{query}")) == (200, DOCUMENT | {"notices": ["a line"]})
    POOL.take(Found(accounts=tuple(accounts("work").values())))


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
    assert "x-flowpool-key" in error_of(made.response)[2]  # by which the command line knows it


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
@pytest.mark.parametrize("path", ["/_flowpool/health", "/_flowpool/status", "/_flowpool/requests", "/_flowpool/other"])
def test_only_reading_is_answered(method: str, path: str) -> None:
    """Every other method is 404, with or without the key."""
    assert error_of(asked(path, method=method).response)[0] == 404


@pytest.mark.parametrize("path", [Path.POOLED, Path.PASSED])
def test_other_paths_are_left_alone(path: Path) -> None:
    """What is not ours is none of control's business."""
    made = flow()
    known(made, path)

    asyncio.run(answered(CONTROL, made))
    assert made.response is None


def test_a_flow_that_admission_never_saw_is_left_alone() -> None:
    """Without an exchange nothing is answered."""
    made = flow(request("GET", "/_flowpool/health"))

    asyncio.run(answered(CONTROL, made))
    assert made.response is None


def test_what_was_answered_stays_answered() -> None:
    """A request that admission refused keeps that answer."""
    made = flow(request("GET", "/_flowpool/status"))
    EXCHANGES[made] = exchange(Path.LOCAL, key=KEY)
    made.response = http.Response.make(400)

    asyncio.run(answered(CONTROL, made))
    assert made.response.status_code == 400


REQUESTS = [
    ("", ["r1", "r2", "r3"]),
    ("?last=2", ["r2", "r3"]),
    ("?last=0", []),
    ("?after=r1", ["r2", "r3"]),
    ("?after=r3", []),
    ("?after=gone", ["r1", "r2", "r3"]),
    ("?after=", ["r1", "r2", "r3"]),
    ("?last=1&last=2", ["r2", "r3"]),
]


@pytest.mark.parametrize(("query", "ids"), REQUESTS)
def test_requests_are_the_last_ones_or_those_after_one(query: str, ids: list[str]) -> None:
    """Lines of the request log, oldest first."""
    assert document(asked(f"/_flowpool/requests{query}")) == (200, {"requests": [{"id": one} for one in ids]})


@pytest.mark.parametrize("last", ["x", "-1", "1.5", "99999", "٣"])
def test_a_wrong_number_of_requests_is_said(last: str) -> None:
    """It is 400 with what would be right."""
    assert error_of(asked(f"/_flowpool/requests?last={last}").response)[:2] == (400, "invalid_request_error")


def test_stories_are_those_whose_ids_begin_so() -> None:
    """The key opens them; a few at once."""
    told = document(asked("/_flowpool/why?id=f4"))

    assert told == (200, {"stories": [{"id": "f4", "most": 5}]})
    assert EXCHANGES[asked("/_flowpool/why?id=f4", key="")].answer == "E"


@pytest.mark.parametrize("query", ["", "?id=", "?id=" + "a" * 65, "?ids=f4"])
def test_a_story_is_asked_for_by_an_id(query: str) -> None:
    """It is 400 with what would be right."""
    assert error_of(asked(f"/_flowpool/why{query}").response)[:2] == (400, "invalid_request_error")


@pytest.mark.parametrize("path", ["/_flowpool/reload", "/_flowpool/lift"])
@pytest.mark.parametrize("key", ["", "wrong", KEY[:-1]])
def test_an_instruction_needs_the_key(path: str, key: str) -> None:
    """Without it nothing is done: own answer E."""
    made = asked(path, key=key, method="POST", content=b'{"accounts": ["work"]}')

    assert EXCHANGES[made].answer == "E"
    assert error_of(made.response)[0] == 400


@pytest.mark.parametrize("path", ["/_flowpool/reload", "/_flowpool/lift"])
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_an_instruction_is_a_post(path: str, method: str) -> None:
    """Nothing that a link could ask for changes anything."""
    made = asked(path, method=method, content=b"{}")

    assert EXCHANGES[made].answer == "F"
    assert error_of(made.response)[0] == 404


@given(st.binary(max_size=40) | st.sampled_from([b"[" * 40_000, b"null", b"3", b"[]", b'"x"', b" " * LARGEST + b"{}"]))
def test_what_is_no_instruction_is_refused(content: bytes) -> None:
    """Whatever comes, it is 400 in words, never a fault of ours."""
    made = asked("/_flowpool/lift", method="POST", content=content)

    assert error_of(made.response)[:2] == (400, "invalid_request_error")
    assert EXCHANGES[made].faulty is False


@pytest.mark.parametrize("accounts", [[], "work", [1], [""], ["x" * 65], ["x"] * 1001, {"work": 1}, None])
def test_lift_wants_ids(accounts: Any) -> None:
    """A list of some ids, and nothing else."""
    made = asked("/_flowpool/lift", method="POST", content=json.dumps({"accounts": accounts}).encode())

    assert error_of(made.response)[0] == 400


def test_lift_says_how_many_holds_there_were() -> None:
    """By id, also for one that is not known."""
    made = asked("/_flowpool/lift", method="POST", content=b'{"accounts": ["work", "gone"]}')

    assert document(made) == (200, {"lifted": {"work": 0, "gone": 0}})


def test_pins_are_taken_and_shown() -> None:
    """What makes no sense is 400, names what would, and changes nothing."""
    of, pool = control(store=stocked("work"))
    pool.take(
        Found(accounts=tuple(accounts("work").values()), credentials={AccountId("work"): stocked("work").get("work")})
    )
    made = asked("/_flowpool/pin", method="POST", content=b'{"accounts": ["work"]}', of=of)
    wrong = asked("/_flowpool/pin", method="POST", content=b'{"accounts": ["gone"]}', of=of)

    assert document(made) == (200, {"pins": []})  # this status tells of none
    assert error_of(wrong.response)[0] == 400
    assert error_of(wrong.response)[2].endswith("an account is not there; these can be pinned: work")


WHOLE = "11111111-2222-4333-8444-555555555555"
WHOSE = [  # typed, the session it is about, whether it is known
    ("live", "live-one", True),
    ("60a9", "60a9dfd2", True),
    ("pin", "pinned-one", True),
    (WHOLE, WHOLE, False),
]


def knowing(find: Callable[[str], Iterable[str]]) -> tuple[Control, list[str | None]]:
    """Control of a pool that knows one session itself and one by its pin; and whom it pinned."""
    pinned: list[str | None] = []
    _, pool = control(store=stocked("work"))
    held = stocked("work").get("work")
    pool.take(Found(accounts=tuple(accounts("work").values()), credentials={AccountId("work"): held}))
    pool.pin = lambda wish: pinned.append(wish.session)  # type: ignore[method-assign]

    def drawn(_now: datetime) -> dict[str, Any]:
        return {"pins": [{"session": "pinned-one"}, {"session": None}]}

    made = Control(
        Secret(KEY), drawn, pool, Recent(), life=LIVED.life(), sessions=lambda: ["live-one"], conversations=find
    )
    return made, pinned


@pytest.mark.parametrize(("typed", "whole", "is_known"), WHOSE)
def test_a_session_is_pinned_by_its_beginning(typed: str, whole: str, is_known: bool) -> None:
    """Of all that the proxy, its pins and the state know; the answer says whose it was."""
    of, pinned = knowing(lambda beginning: [one for one in ["60a9dfd2"] if one.startswith(beginning)])
    content = json.dumps({"accounts": ["work"], "session": typed}).encode()
    status, told = document(asked("/_flowpool/pin", method="POST", content=content, of=of))

    assert (status, told["session"], told["is_known"], len(told["pins"])) == (200, whole, is_known, 2)
    assert pinned == [whole]


def test_a_session_that_nobody_knows_is_not_pinned() -> None:
    """It says where ids are found; a state that cannot be read is no fault."""

    def broken(_beginning: str) -> list[str]:
        raise StateError("cannot be read")

    of, pinned = knowing(broken)
    made = asked("/_flowpool/pin", method="POST", content=b'{"accounts": ["work"], "session": "60a9"}', of=of)

    assert error_of(made.response)[0] == 400
    assert "run: flowpool requests --json" in error_of(made.response)[2]
    assert pinned == []


def test_reload_answers_when_the_files_are_in_force(tmp_path: FilePath) -> None:
    """It says whether they could be read, and what is wrong when not."""
    path = tmp_path / "accounts.toml"
    of, pool = control(path, store=stocked("work", "home"))

    async def story() -> list[tuple[int, Any]]:
        pool.running()
        said = []
        for text in (book.render(tuple(accounts("work", "home").values())), b"broken"):
            path.write_bytes(text)
            made = flow(request("POST", "/_flowpool/reload", content=b"{}"))
            known(made, Path.LOCAL, key=KEY)
            await answered(of, made)
            said.append(document(made))
        pool.done()
        return said

    (good, bad) = asyncio.run(story())
    assert good == (200, {"reloaded": True, "notices": []})
    assert [account.name for account in pool.members.values()] == ["work", "home"]
    assert (bad[1]["reloaded"], len(bad[1]["notices"])) == (False, 1)


# The end


def ending(path: str, body: dict[str, Any], life: Any, key: str = KEY) -> http.HTTPFlow:
    """An instruction about the proxy's end, given to this life."""
    of, _ = control()
    of._life = life
    return asked(path, method="POST", content=json.dumps(body).encode(), of=of, key=key)


class Standing:
    """A life that writes down what it is told. fault: why it cannot be followed."""

    def __init__(self, fault: str = "") -> None:
        self.fault, self.told = fault, list[Any]()

    def stop(self, *, now: bool) -> dict[str, Any]:
        self.told.append(now)
        return {"stopping": True}

    async def restart(self) -> dict[str, Any]:
        if self.fault:
            raise CannotRestartError(self.fault)
        return {"pid": 7}


@pytest.mark.parametrize(("body", "now"), [({}, False), ({"now": True}, True), ({"now": "yes"}, False)])
def test_a_stop_is_handed_on(body: dict[str, Any], now: bool) -> None:
    """At once where that is said plainly, else when what is in flight is answered."""
    life = Standing()

    assert document(ending("/_flowpool/stop", body, life)) == (200, {"stopping": True})
    assert life.told == [now]


def test_a_restart_is_answered_by_who_serves_or_by_why_nobody_else_does() -> None:
    """The reason is told as that of any other instruction."""
    assert document(ending("/_flowpool/restart", {}, Standing())) == (200, {"pid": 7})

    refused = ending("/_flowpool/restart", {}, Standing("the port is taken"))
    assert error_of(refused.response) == (400, "invalid_request_error", "the port is taken")


@pytest.mark.parametrize("path", ["/_flowpool/stop", "/_flowpool/restart"])
def test_nobody_without_the_key_ends_anything(path: str) -> None:
    """Own answer E, and nothing happens."""
    life = Standing()

    assert error_of(ending(path, {}, life, key="wrong").response)[0] == 400
    assert life.told == []
