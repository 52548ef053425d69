"""The document of status is read strictly and made completely."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpool import document
from tests.flowpool.pictures import FULL

KEYS = st.sampled_from(
    ["version", "running", "pid", "listen", "claude", "next", "accounts", "windows", "holds", "used", "until"]
)
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=5,
)


def test_a_full_document_is_read() -> None:
    """Every part of the interface's document is found."""
    plain, picture = document.parse(json.dumps(FULL).encode())

    assert plain == FULL
    assert picture.listen == "127.0.0.1:3456"
    assert picture.accounts[0].windows[0].resets_at == datetime(2026, 1, 5, 14, 20, tzinfo=UTC)
    assert picture.accounts[0].holds[0].scope == "account"
    assert [account.rank for account in picture.accounts] == [1, None]
    assert picture.next == {"opus": "home", "fable": None}


@given(junk=JUNK, data=st.data())
def test_any_change_is_read_or_refused(junk: object, data: st.DataObject) -> None:
    """Whatever stands in one place of the document, the outcome is a picture or a ValueError."""
    changed = json.loads(json.dumps(FULL))
    place = data.draw(
        st.sampled_from([changed, changed["accounts"][0], changed["accounts"][0]["windows"][0], changed["listen"]])
    )
    place[data.draw(st.sampled_from(sorted(place)))] = junk

    try:
        document.parse(json.dumps(changed).encode())
    except ValueError:
        return


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"{}", b"\xff", b"[" * 99_999, b"1" * 9999], ids=range(7))
def test_what_is_no_document_is_refused(data: bytes) -> None:
    """Junk is a ValueError."""
    with pytest.raises(ValueError):  # noqa: PT011
        document.parse(data)


def test_nothing_steers_the_terminal() -> None:
    """Control characters that came from far away are dropped."""
    changed = json.loads(json.dumps(FULL))
    changed["accounts"][0]["because"] = "\x1b]0;owned\x07\nnext\u202e"

    assert document.read(changed).accounts[0].because == " ]0;owned  next "


def test_without_a_proxy_the_document_is_whole() -> None:
    """The document without a proxy has every field of a running one's, and can be read."""
    account = {"id": "a1", "name": "work", "provider": "anthropic", "kind": "oauth", "enabled": True, "rank": None}
    alone = document.without_proxy("1", "127.0.0.1:1", "perishing", (account, account | {"enabled": False}))

    assert set(alone) == set(FULL)
    times = ["rank", "expires_at", "refresh_expires_at", "checked_at", "state"]
    assert all(set(one) == set(FULL["accounts"][0]) for one in alone["accounts"])
    assert all(list(one)[5:10] == times for one in alone["accounts"])
    assert [one["state"] for one in alone["accounts"]] == ["unmeasured", "disabled"]
    assert document.read(alone).pid is None


def test_what_the_last_run_left_stands_in_the_document() -> None:
    """Its state, windows and holds are told instead of unmeasured; what is wrong with its file is a notice."""
    alone = document.without_proxy("1", "127.0.0.1:1", "perishing", (FULL["accounts"][0],), ("a fault",))

    assert (alone["accounts"], alone["notices"]) == ([FULL["accounts"][0]], ["a fault"])


def test_notices_may_be_there() -> None:
    """What is wrong with the running proxy's files is read, and cannot steer the terminal."""
    assert document.read(FULL).notices == ()
    assert document.read(FULL | {"notices": ["a\x1b line"]}).notices == ("a  line",)


def test_when_an_account_is_primed_may_be_said() -> None:
    """Where it is, it is read; what is no such thing is refused."""
    changed = json.loads(json.dumps(FULL))
    changed["accounts"][0]["prime"] = {"slot": "x", "next_at": "2026-01-06T05:30:05Z", "because": "its slot"}
    _, picture = document.parse(json.dumps(changed).encode())

    assert picture.accounts[0].prime == document.PrimeLine(
        next_at=datetime(2026, 1, 6, 5, 30, 5, tzinfo=UTC), because="its slot"
    )
    assert picture.accounts[1].prime is None
    changed["accounts"][0]["prime"] = {"next_at": None}
    with pytest.raises(ValueError, match="not a status"):
        document.parse(json.dumps(changed).encode())


def test_a_window_that_runs_out_may_be_said() -> None:
    """Where it is, it is read; what is no such thing is refused."""
    changed = json.loads(json.dumps(FULL))
    changed["accounts"][0]["pressure"] = {"runs_out_at": "2026-01-05T14:00:00Z", "because": "34% an hour"}
    _, picture = document.parse(json.dumps(changed).encode())

    assert picture.accounts[0].pressure == document.PressureLine(
        runs_out_at=datetime(2026, 1, 5, 14, tzinfo=UTC), because="34% an hour"
    )
    assert picture.accounts[1].pressure is None
    changed["accounts"][0]["pressure"] = {"runs_out_at": None, "because": ""}
    with pytest.raises(ValueError, match="not a status"):
        document.parse(json.dumps(changed).encode())
