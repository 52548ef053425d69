"""Laying adds our values and nothing else, and lifting gives back every byte, whatever happened in between."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpool.launch.jsonc import Malformed
from flowpool.launch.overlay import EMPTY, Change, Wish, lay, lift
from tests.flowpool.launch.jsontexts import objects, plain

BASE, SWITCH, HEADERS = (
    ("env", "ANTHROPIC_BASE_URL"),
    ("env", "ENABLE_TOOL_SEARCH"),
    ("env", "ANTHROPIC_CUSTOM_HEADERS"),
)
KEYS = (BASE[1], SWITCH[1], HEADERS[1])
OURS = "http://127.0.0.1:"
MARK = "x-flowpool-key: "

OLD = st.one_of(
    st.sampled_from(["https://gateway.example", "true", "false", "X-A: 1", f"X-A: 1\n{MARK}old", ""]),
    st.none(),
    st.integers(),
)
ENVS = st.dictionaries(st.sampled_from([*KEYS, "FOO", "BAR"]), OLD, max_size=4)
TEXTS = st.one_of(st.none(), objects(ENVS, st.sampled_from([1, "x", {}, {"plugin": {"on": True}}])))
PORTS = st.integers(1, 3)


def not_our_address(text: str) -> str | None:
    """Our addresses are known by sight."""
    return None if text.startswith(OURS) else text


def other_lines(text: str) -> str | None:
    """A line of ours among the person's."""
    kept = [line for line in text.split("\n") if not line.startswith(MARK)]
    return "\n".join(kept) if kept else None


def wishes(port: int = 1, key: str = "k") -> list[Wish]:
    """Of each kind one: a value of ours, one only where the person has none, one line more in theirs."""

    def with_line(theirs: object) -> str:
        return f"{theirs}\n{MARK}{key}" if theirs and isinstance(theirs, str) else f"{MARK}{key}"

    made = [
        Wish(path=BASE, value=lambda _: f"{OURS}{port}", theirs=not_our_address),
        Wish(path=SWITCH, value=lambda theirs: "true" if theirs is None else None, theirs=lambda text: text),
    ]
    return [*made, Wish(path=HEADERS, value=with_line, theirs=other_lines)] if key else made


THEIRS = {wish.path: wish.theirs for wish in wishes()}


def env(text: str | None) -> dict[str, object]:
    """What a text says of the environment."""
    return dict(plain(text).get("env", {})) if text is not None else {}


def has_ours(text: str | None) -> bool:
    """Whether an address or a header line of ours is in it."""
    found = env(text)
    return str(found.get(BASE[1], "")).startswith(OURS) or MARK in str(found.get(HEADERS[1], ""))


def is_pristine(text: str | None) -> bool:
    """Whether nothing that looks like ours stood there before."""
    return not has_ours(text)


@given(TEXTS)
def test_only_our_keys_differ(text: str | None) -> None:
    """What else the object has stays, in its order; a switch of the person's stays as well."""
    after, _ = lay(text, wishes())
    before = {} if text is None else plain(text)
    rest = {key: value for key, value in env(after).items() if key not in KEYS}

    assert {key: value for key, value in plain(after).items() if key != "env"} == {
        key: value for key, value in before.items() if key != "env"
    }
    assert list(rest.items()) == [one for one in env(text).items() if one[0] not in KEYS]
    assert env(after)[BASE[1]] == f"{OURS}1"
    theirs = env(text).get(SWITCH[1])
    assert env(after)[SWITCH[1]] == ("true" if theirs is None else theirs)
    assert str(env(after)[HEADERS[1]]).endswith(f"{MARK}k")


@given(TEXTS.filter(is_pristine))
def test_lifting_gives_back_every_byte(text: str | None) -> None:
    """Also the file that was not there."""
    after, changes = lay(text, wishes())
    lifted = lift(after, changes, THEIRS)

    assert (lifted.text, lifted.changed) == (text, ())


@given(TEXTS)
def test_laying_twice_is_laying_once(text: str | None) -> None:
    """Neither the text nor what is known of it changes."""
    once = lay(text, wishes())

    assert lay(once[0], wishes(), once[1]) == once


@given(
    TEXTS.filter(is_pristine), st.lists(st.tuples(PORTS, st.sampled_from(["", "k", "other"])), min_size=1, max_size=4)
)
def test_after_many_layings_the_first_text_comes_back(text: str | None, times: list[tuple[int, str]]) -> None:
    """Whatever address and key each had, and whether it had a key at all."""
    after: str | None = text
    changes: tuple[Change, ...] = ()
    for port, key in times:
        after, changes = lay(after, wishes(port, key), changes)
        assert env(after)[BASE[1]] == f"{OURS}{port}"
        assert (MARK in str(env(after).get(HEADERS[1]))) is bool(key)

    assert lift(after, changes, THEIRS).text == text


@given(TEXTS.filter(is_pristine), st.lists(st.tuples(PORTS, st.booleans()), min_size=1, max_size=5), st.booleans())
def test_a_begun_change_can_always_be_undone(text: str | None, times: list[tuple[int, bool]], is_lost: bool) -> None:
    """Each laying may end once its changes are written down and before its text is; what was known before may be lost at the first."""
    after: str | None = text
    known: tuple[Change, ...] = ()
    for number, (port, is_done) in enumerate(times):
        made, changes = lay(after, wishes(port), known)
        known = changes
        if is_done:
            after = made
        if is_lost and number == 0 and not is_done:
            known = ()

    assert lift(after, known, THEIRS).text == text


@given(TEXTS, PORTS)
def test_ours_is_never_remembered_as_the_persons(text: str | None, port: int) -> None:
    """Though all that was known is lost, no address and no line of ours comes back."""
    after, _ = lay(text, wishes(port))
    again, changes = lay(after, wishes())

    assert not has_ours(lift(again, changes, THEIRS).text)


@given(TEXTS, st.sampled_from(["https://theirs.example", "", None, 7]))
def test_what_the_person_changed_since_stays(text: str | None, value: object) -> None:
    """And is named; the rest is lifted."""
    after, changes = lay(text, wishes())
    document = plain(after)
    document["env"][BASE[1]] = value
    lifted = lift(json.dumps(document, indent=2), changes, THEIRS)

    assert env(lifted.text)[BASE[1]] == value
    assert lifted.changed == (BASE,)
    assert not has_ours(lifted.text)


@given(TEXTS.filter(is_pristine))
def test_a_file_that_was_written_anew_is_undone_too(text: str | None) -> None:
    """Claude Code writes its settings in its own layout, without comments: what they say is as it was."""
    after, changes = lay(text, wishes())
    lifted = lift(json.dumps(plain(after), indent=2), changes, THEIRS).text

    assert (None if lifted is None else plain(lifted)) == (None if text is None else plain(text))


def test_a_line_beside_ours_stays() -> None:
    """A header that the person added since is kept, and ours goes."""
    after, changes = lay(None, wishes())
    later = after.replace(f"{MARK}k", f"X-New: 1\\n{MARK}k")

    assert env(lift(later, changes, THEIRS).text) == {HEADERS[1]: "X-New: 1"}


def test_what_the_person_took_out_stays_out() -> None:
    """Nothing is put back where nothing of ours stands."""
    after, changes = lay('{"env": {"ANTHROPIC_BASE_URL": "https://gateway.example"}}', wishes())
    document = plain(after)
    del document["env"][BASE[1]]

    assert env(lift(json.dumps(document), changes, THEIRS).text) == {}


@pytest.mark.parametrize("value", ["null", "[]", "7"])
def test_an_environment_that_is_none_is_refused_or_left(value: str) -> None:
    """Laying says its line; lifting has nothing to do there."""
    text = f'{{\n"env": {value}}}'
    with pytest.raises(Malformed) as caught:
        lay(text, wishes())
    _, changes = lay(None, wishes())

    assert caught.value.line == 2
    assert lift(text, changes, THEIRS).text == text


def test_what_is_no_json_is_refused_by_both() -> None:
    """And so is never written."""
    _, changes = lay(None, wishes())
    with pytest.raises(Malformed):
        lay("{", wishes())
    with pytest.raises(Malformed):
        lift("{", changes, THEIRS)


def test_a_file_of_the_persons_own_is_not_taken_away() -> None:
    """One that was not there before, and has a comment by now."""
    after, changes = lay(None, wishes())

    assert lift(f"// mine\n{after}", changes, THEIRS).text == "// mine\n{\n}\n"
    assert lift(None, changes, THEIRS).text is None
    assert lift(EMPTY, [Change(path=(), was=None)], {}).text is None
