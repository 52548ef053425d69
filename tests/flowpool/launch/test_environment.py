"""What a Claude Code that we start finds in its environment, and that all of it can be undone.

Longer than 250 lines: one module's tests stand in its one test file, as tests/test_tree.py wants it.
"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpool.launch import environment
from flowpool.launch.environment import (
    AUTHORITIES,
    BASE,
    CHANGED,
    HEADERS,
    KEYS,
    NO_PROXY,
    RESTORED,
    TIMEOUT,
    TOKEN,
    WATCHDOG,
    Prepared,
    Way,
    is_at,
    patience,
    prepared,
    undone,
    with_headers,
    without_pool,
)
from home.checks import Address
from providers.anthropic.placeholder import PLACEHOLDER
from routing.rules import Waiting

URL = "http://127.0.0.1:3456"
POOL = Way(base_url=URL)
DOOR = Way(proxy="http://flowpool:key@127.0.0.1:3458", authorities="/state/ca.pem")
LISTEN = [Address(host="127.0.0.1", port=3456), Address(host="127.0.0.1", port=3458)]

text = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=12)
names = st.sampled_from(
    [
        *(BASE, TOKEN, HEADERS, *RESTORED, TIMEOUT, WATCHDOG, AUTHORITIES, "PATH", "OTHER"),
        *("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "ALL_PROXY", NO_PROXY, "no_proxy"),
    ]
)
people = st.dictionaries(names, text.filter(bool))
ways = st.builds(
    Way,
    base_url=st.just(URL),
    headers=st.sampled_from([(), (("x-flowpool-pin", "work"),), (("x-flowpool-key", "k"), ("x-flowpool-pin", "w"))]),
    token=st.sampled_from(["", PLACEHOLDER]),
    wait=st.builds(Waiting, max=st.sampled_from([0.0, 240.0, 3000.0]), heartbeat=st.sampled_from([0.0, 15.0])),
) | st.just(DOOR)


def got(environ: dict[str, str], way: Way = POOL) -> dict[str, str]:
    """What the client gets."""
    return dict(prepared(environ, way).values)


# What holds of all


@given(people, ways)
def test_everything_can_be_undone(environ: dict[str, str], way: Way) -> None:
    """Started inside another, or without the pool, a client finds what the person had."""
    assert undone(got(environ, way)) == undone(environ)


@given(people, ways, ways)
def test_one_inside_another_gets_what_it_would_get_alone(environ: dict[str, str], outer: Way, inner: Way) -> None:
    """Nothing of the outer one is left, and nothing is there twice."""
    assert got(got(environ, outer), inner) == got(environ, inner)


@given(people, st.sets(st.sampled_from(KEYS), min_size=1), ways)
def test_no_api_key_is_passed_on(environ: dict[str, str], keys: set[str], way: Way) -> None:
    """It would end the subscription's mode; each is told by its name, and never quoted."""
    ready = prepared(environ | dict.fromkeys(keys, "sk-ant-api03-secret"), way)

    assert not keys & ready.values.keys()
    assert {name for name in keys for note in ready.notes if note.startswith(f"{name} ")} == keys
    assert "secret" not in "".join(ready.notes) + ready.values[CHANGED]


@given(people, ways)
def test_what_the_person_set_goes_before_our_defaults(environ: dict[str, str], way: Way) -> None:
    """Only the address, and what leads to it, is ours to say."""
    own = {name: value for name, value in environ.items() if name in (*RESTORED, TIMEOUT, WATCHDOG, "PATH", "OTHER")}

    assert own.items() <= got(environ, way).items()


@given(people, ways)
def test_a_login_is_never_replaced(environ: dict[str, str], way: Way) -> None:
    """A token of the person's stays; the placeholder is for who has none."""
    assert got(environ, way).get(TOKEN) == (environ.get(TOKEN) or way.token or None)


# What follows of what


def test_a_client_is_pointed_at_the_pool() -> None:
    """By its address, with what an address that is not the vendor's switches off."""
    values = got({"PATH": "/bin"})

    assert {name: value for name, value in values.items() if name != CHANGED} == {"PATH": "/bin", BASE: URL} | RESTORED


@pytest.mark.parametrize(("theirs", "is_told"), [(URL, False), (f"{URL}/", False), ("https://gateway.example", True)])
def test_another_address_is_replaced_and_told(theirs: str, is_told: bool) -> None:
    """Not one that is the pool's anyway."""
    ready = prepared({BASE: theirs}, POOL)

    assert ready.values[BASE] == URL
    assert bool(ready.notes) == is_told
    assert "gateway" not in "".join(ready.notes)


WAITS: list[tuple[dict[str, Any], dict[str, str]]] = [
    ({}, {}),
    ({"max": 570.0}, {}),
    ({"max": 571.0}, {TIMEOUT: "601000"}),
    ({"max": 0.5, "margin_s": 700.0}, {TIMEOUT: "700500"}),
    ({"max": 240.0, "heartbeat": 15.0}, {}),
    ({"max": 300.0, "heartbeat": 15.0}, {WATCHDOG: "330000"}),
    ({"max": 3600.0, "heartbeat": 15.0}, {TIMEOUT: "3630000", WATCHDOG: "3630000"}),
    ({"max": 31e6}, {TIMEOUT: "2147483647"}),
]


@pytest.mark.parametrize(("wait", "wanted"), WAITS)
def test_a_client_waits_for_as_long_as_we_may_make_it_wait(wait: dict[str, Any], wanted: dict[str, str]) -> None:
    """Its own patience is 600 s, and 300 s without an event; only with comments it hears of more than that."""
    assert patience(Waiting(**wait)) == wanted


HEADER_LINES = [
    ("", (), ""),
    ("A: 1", (), "A: 1"),
    ("A: 1\n\nB: 2\n", (("x-flowpool-pin", "work"),), "A: 1\nB: 2\nx-flowpool-pin: work"),
    ("X-Flowpool-Pin: old\nA: 1\n x-flowpool-key : old", (("x-flowpool-key", "new"),), "A: 1\nx-flowpool-key: new"),
    ("A: x-flowpool-pin", (), "A: x-flowpool-pin"),
]


@pytest.mark.parametrize(("theirs", "ours", "wanted"), HEADER_LINES)
def test_the_persons_headers_stay(theirs: str, ours: tuple[tuple[str, str], ...], wanted: str) -> None:
    """Older ones of ours go, however they are written."""
    assert with_headers(theirs, ours) == wanted


@pytest.mark.parametrize("mark", ["", "{", "[]", "null", '{"PATH": 1}', '{"PATH": ["a", "b", "c"]}'])
def test_a_note_that_makes_no_sense_undoes_nothing(mark: str) -> None:
    """Whoever wrote it."""
    assert undone({CHANGED: mark, "PATH": "/bin"}) == {"PATH": "/bin"}


def test_what_was_changed_since_stays() -> None:
    """A session's own shell may set another address, which is the person's then."""
    values = got({BASE: "https://gateway.example"}) | {BASE: "http://127.0.0.1:9"}

    assert undone(values)[BASE] == "http://127.0.0.1:9"


def test_what_env_exported_is_undone_too() -> None:
    """It leaves no note: our headers and the placeholder are known by their looks."""
    assert undone({HEADERS: "x-flowpool-key: k", TOKEN: PLACEHOLDER, "A": "1"}) == {"A": "1"}
    assert environment.PLACED in PLACEHOLDER


# Proxies of the person's network

PROXIED = [
    ({}, {}),
    ({"HTTPS_PROXY": "p"}, {NO_PROXY: "127.0.0.1", "no_proxy": "127.0.0.1"}),
    ({"http_proxy": "p", "no_proxy": "a, b"}, {NO_PROXY: "a,b,127.0.0.1", "no_proxy": "a,b,127.0.0.1"}),
    ({"ALL_PROXY": "p", NO_PROXY: "127.0.0.1"}, {NO_PROXY: "127.0.0.1", "no_proxy": "127.0.0.1"}),
    (
        {"HTTPS_PROXY": "p", NO_PROXY: "a", "no_proxy": "b"},
        {NO_PROXY: "a,127.0.0.1", "no_proxy": "b,127.0.0.1"},
    ),
    ({"HTTPS_PROXY": "p", NO_PROXY: "*"}, {NO_PROXY: "*", "no_proxy": "*"}),
    ({NO_PROXY: "a"}, {NO_PROXY: "a"}),
]


@pytest.mark.parametrize(("environ", "wanted"), PROXIED)
def test_no_proxy_is_asked_for_this_machine(environ: dict[str, str], wanted: dict[str, str]) -> None:
    """It would look for our address on its own; what the person excepts stays excepted."""
    values = got(environ)

    assert {name: value for name, value in values.items() if name.upper() == NO_PROXY} == wanted


# Forward mode


def test_by_our_proxy_the_vendors_own_address_is_asked() -> None:
    """Nothing is restored, for nothing is switched off; the person's proxy is ours to ask, not the client's."""
    environ = {"HTTPS_PROXY": "http://corp:1", "https_proxy": "http://corp:2", BASE: "https://gateway.example"}
    ready = prepared(environ | {"HTTP_PROXY": "http://corp:3"}, DOOR)
    values = ready.values

    assert BASE not in values
    assert not RESTORED.keys() & values.keys()
    assert (values["HTTPS_PROXY"], values["https_proxy"], values["HTTP_PROXY"]) == (
        DOOR.proxy,
        DOOR.proxy,
        "http://corp:3",
    )
    assert values[AUTHORITIES] == "/state/ca.pem"
    assert values[NO_PROXY] == "localhost,127.0.0.1,::1"
    assert len(ready.notes) == 1


@pytest.mark.parametrize(
    "entry", ["*", "anthropic.com", ".anthropic.com", "*.anthropic.com", "API.anthropic.com", ".com"]
)
def test_the_vendor_is_not_asked_past_our_proxy(entry: str) -> None:
    """What would except it is left out, and nothing else."""
    values = got({NO_PROXY: f"a.example,{entry},openanthropic.com"}, DOOR)

    assert values[NO_PROXY] == "a.example,openanthropic.com,localhost,127.0.0.1,::1"


# Without the pool

ADDRESSES = [
    (URL, True),
    ("http://localhost:3456/", True),
    ("http://[::1]:3458", True),
    ("http://u:p@127.0.0.1:3458", True),
    ("http://127.0.0.1:3457", False),
    ("http://gateway.example:3456", False),
    ("http://127.0.0.1:x", False),
    ("http://[", False),
    ("", False),
]


@pytest.mark.parametrize(("url", "wanted"), ADDRESSES)
def test_our_own_addresses_are_known(url: str, wanted: bool) -> None:
    """However they are written."""
    assert is_at(url, LISTEN) == wanted


def test_without_the_pool_nothing_of_ours_is_left() -> None:
    """Neither what we gave a client around this one, nor what `flowpool env` had a shell export."""
    person = {"PATH": "/bin", BASE: "https://gateway.example", "HTTPS_PROXY": "http://corp:1"}
    exported = person | {BASE: URL, "https_proxy": "http://127.0.0.1:3458"}

    assert without_pool(got(person), LISTEN) == without_pool(got(person, DOOR), LISTEN) == person
    assert without_pool(exported, LISTEN) == {"PATH": "/bin", "HTTPS_PROXY": "http://corp:1"}


def test_nothing_secret_is_shown() -> None:
    """Neither of a way nor of an environment."""
    way = Way(proxy="http://flowpool:SECRET@x", headers=(("x-flowpool-key", "SECRET"),), token="SECRET")

    assert "SECRET" not in repr(way) + repr(Prepared(values={"A": "SECRET"}))
    assert json.loads(got({TOKEN: "SECRET"})[CHANGED]).keys() == {BASE, *RESTORED}
