"""Whether there is room for the model of launches: only full evidence speaks against it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpool.launch.model import NoRoom, is_named, named, room
from routing.words import Family

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
OPUS, FABLE = Family("opus"), Family("fable")
SOON, LATER = 3600.0, 7200.0

type Fields = dict[str, Any]


def at(seconds: float) -> str:
    """A moment so many seconds from now, as a status tells it."""
    return (NOW + timedelta(seconds=seconds)).isoformat(timespec="milliseconds")


def window(key: str = "5h", used: float | None = 1.0, resets: float | None = SOON, **more: Any) -> Fields:
    """A window of an account."""
    fields = {"key": key, "used": used, "resets_at": None if resets is None else at(resets), "status": None}
    return fields | {"taken_at": at(-60.0)} | more


def hold(until: float | None = SOON, scope: str = "account", row: int = 13) -> Fields:
    """A hold of an account."""
    return {"scope": scope, "until": None if until is None else at(until), "because": "x", "row": row}


def account(*windows: Fields, holds: tuple[Fields, ...] = (), enabled: bool = True, name: str = "work") -> Fields:
    """An account."""
    return {"name": name, "enabled": enabled, "windows": list(windows), "holds": list(holds)}


def until(*accounts: Fields, family: Family = OPUS, pinned: str = "") -> float | str | None:
    """In how many seconds there is room again; "never" where nobody knows, None where there is room, or may be."""
    found = room({"accounts": list(accounts)}, family, NOW, pinned=pinned)
    if found is None:
        return None
    return "never" if found.until is None else (found.until - NOW).total_seconds()


HAS_NONE: list[tuple[str, tuple[Fields, ...], Family, float | str]] = [
    ("a full window", (account(window()),), OPUS, SOON),
    ("a rejected window", (account(window(used=None, status="rejected")),), OPUS, SOON),
    ("a full one among others", (account(window(used=0.1), window("7d", resets=LATER)),), OPUS, LATER),
    ("the later of two", (account(window(), window("7d", resets=LATER)),), OPUS, LATER),
    ("the sooner of two accounts", (account(window(resets=LATER)), account(window())), OPUS, SOON),
    ("one that is off does not count", (account(window()), account(enabled=False)), OPUS, SOON),
    ("a hold that lasts", (account(holds=(hold(LATER),)),), OPUS, LATER),
    ("a hold of the family", (account(holds=(hold(scope="opus"),)),), OPUS, SOON),
    ("a hold without an end", (account(holds=(hold(None),)),), OPUS, "never"),
    ("one of which that is known", (account(holds=(hold(None),)), account(window())), OPUS, SOON),
    ("a window of the model's line", (account(window("7d_oi", resets=LATER)),), FABLE, LATER),
    ("a fresh reading without a reset", (account(window(resets=None)),), OPUS, "never"),
    ("an old reading with a reset to come", (account(window(taken_at=at(-9000))),), OPUS, SOON),
    ("a reserve that is reached", (account(holds=(hold(row=0),)),), OPUS, SOON),
]
HAS_SOME: list[tuple[str, tuple[Fields, ...], Family]] = [
    ("no account", (), OPUS),
    ("none enabled", (account(window(), enabled=False),), OPUS),
    ("nothing is known", (account(),), OPUS),
    ("one of two is not known", (account(window()), account()), OPUS),
    ("nearly full", (account(window(used=0.99)),), OPUS),
    ("not measured", (account(window(used=None)),), OPUS),
    ("its reset has passed", (account(window(resets=-1.0)),), OPUS),
    ("it resets in a moment", (account(window(resets=299.0)),), OPUS),
    ("an old reading without a reset", (account(window(resets=None, taken_at=at(-901))),), OPUS),
    ("another model's window", (account(window("7d_oi")),), OPUS),
    ("a window of a line that nobody knows", (account(window("7d_zz")),), OPUS),
    ("what is no window", (account(window("overage")),), OPUS),
    ("another family's hold", (account(holds=(hold(scope="fable"),)),), OPUS),
    ("a throttle's hold", (account(holds=(hold(60.0),)),), OPUS),
]


@pytest.mark.parametrize(("name", "accounts", "family", "wanted"), HAS_NONE)
def test_full_evidence_speaks_against_it(
    name: str, accounts: tuple[Fields, ...], family: Family, wanted: float | str
) -> None:
    """And says until when."""
    assert until(*accounts, family=family) == wanted, name


@pytest.mark.parametrize(("name", "accounts", "family"), HAS_SOME)
def test_whatever_is_not_known_does_not(name: str, accounts: tuple[Fields, ...], family: Family) -> None:
    """The model is kept."""
    assert until(*accounts, family=family) is None, name


def test_a_pinned_launch_may_spend_the_reserve() -> None:
    """Of its own account alone."""
    reserved = account(holds=(hold(row=0),))

    assert until(reserved, pinned="work") is None
    assert until(reserved, pinned="home") == SOON


windows = st.builds(
    window,
    st.sampled_from(["5h", "7d", "7d_oi", "x"]),
    st.none() | st.floats(0, 2),
    st.none() | st.floats(-9000, 900_000),
    status=st.sampled_from([None, "allowed", "rejected"]),
)
accounts = st.builds(
    lambda some, held: account(*some, holds=tuple(held)),
    st.lists(windows, max_size=3),
    st.lists(
        st.builds(hold, st.none() | st.floats(-9, 9000), st.sampled_from(["account", "opus", "fable"])), max_size=2
    ),
)


@given(st.lists(accounts, max_size=4), accounts, st.sampled_from([OPUS, FABLE]))
def test_one_more_account_never_takes_room_away(known: list[Fields], more: Fields, family: Family) -> None:
    """Where there may be room, or room soon, there is with another one, too."""
    before, after = until(*known, family=family), until(*known, more, family=family)

    if before is None and known:
        assert after is None
    if isinstance(before, float) and isinstance(after, float):
        assert after <= before


@given(st.lists(accounts, min_size=1, max_size=3))
def test_room_comes_back_in_the_future(known: list[Fields]) -> None:
    """What has passed bars nobody."""
    found = until(*known)

    assert found is None or found == "never" or (isinstance(found, float) and found > 0)


@pytest.mark.parametrize("status", [{}, {"accounts": None}, {"accounts": [{}]}, {"accounts": [{"enabled": True}]}, []])
def test_what_makes_no_sense_speaks_against_nothing(status: Any) -> None:
    """A newer proxy may tell it otherwise."""
    assert room(status, OPUS, NOW) is None
    assert room({"accounts": [account(window(resets_at="soon"))]}, OPUS, NOW) is None


NAMED = [
    ((), {}, False),
    (("--model", "opus"), {}, True),
    (("-p", "hi", "--model=opus"), {}, True),
    (("-p", "--", "--model"), {}, False),
    (("--models",), {}, False),
    ((), {"ANTHROPIC_MODEL": "opus"}, True),
    ((), {"ANTHROPIC_MODEL": ""}, False),
]


@pytest.mark.parametrize(("arguments", "variables", "wanted"), NAMED)
def test_the_person_may_name_one(arguments: tuple[str, ...], variables: dict[str, str], wanted: bool) -> None:
    """By option or by variable."""
    assert is_named(arguments, variables) == wanted


def test_what_is_short_bars_who_waits_for_it() -> None:
    """A hold of a minute is nothing to a person who types, and all to a run that would be refused until then."""
    held = {"accounts": [account(holds=(hold(60.0),))]}

    assert room(held, OPUS, NOW) is None
    assert room(held, OPUS, NOW, lasting=timedelta(0)) == NoRoom(until=NOW + timedelta(seconds=60))


CHOSEN = [
    (("--model", "opus", "-p"), {}, "opus"),
    (("-p", "--model=opus"), {"ANTHROPIC_MODEL": "haiku"}, "opus"),
    (("-p", "--", "--model", "opus"), {"ANTHROPIC_MODEL": "haiku"}, "haiku"),
    (("--model",), {}, ""),
    ((), {}, ""),
]


@pytest.mark.parametrize(("arguments", "variables", "wanted"), CHOSEN)
def test_the_model_that_was_chosen(arguments: tuple[str, ...], variables: dict[str, str], wanted: str) -> None:
    """By option, else by variable."""
    assert named(arguments, variables) == wanted
