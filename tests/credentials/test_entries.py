"""The layout of a keyring's entries loses nothing, fits everywhere and is read or refused."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credentials import entries
from credentials.credential import KINDS, Credential
from credentials.entries import KEPT_LOOSE, Generation, Head, NewerVersion
from credentials.secret import Secret

LIMIT = 1280  # UTF-16 units that Windows takes
TEXT = st.text(st.characters(codec="utf-8"), max_size=9)
LONG = st.builds(
    lambda part, times: part * times, st.text(st.characters(codec="utf-8"), min_size=1), st.integers(0, 900)
)
CREDENTIALS = st.builds(
    Credential,
    kind=st.sampled_from(KINDS),
    access=st.builds(Secret, LONG),
    refresh=st.none() | st.builds(Secret, LONG),
    extras=st.dictionaries(TEXT, LONG | st.lists(TEXT, max_size=3).map(tuple), max_size=3),
)
SIZES = st.dictionaries(
    st.sampled_from(entries.FIELDS), st.tuples(st.integers(1, 2000), st.integers(0, 2**20)), min_size=1
)
GENERATIONS = st.builds(Generation, tag=st.just("") | st.builds(entries.new_tag), sizes=SIZES)


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


@given(text=LONG)
def test_pieces_fit_and_give_back_the_text(text: str) -> None:
    """Each piece is short enough for every backend, there is at least one, and together they are the text."""
    pieces = entries.cut(text)

    assert "".join(pieces) == text
    assert len(pieces) >= 1
    assert max(units(piece) for piece in pieces) <= LIMIT


@given(credential=CREDENTIALS, old=st.lists(GENERATIONS, max_size=20))
def test_a_credential_survives_the_layout(credential: Credential, old: list[Generation]) -> None:
    """What is laid out and read back is equal, and the head fits into one entry whatever is left over."""
    generation, texts, details = entries.lay_out(credential, "t")
    text = entries.dump(Head(now=generation, details=details, saved_at=2**62, loose=tuple(old)))
    head = entries.load(text)

    assert units(text) <= LIMIT
    assert head.now == generation
    assert head.loose == tuple(old[-KEPT_LOOSE:])
    assert entries.put_together(head.details, texts) == credential
    assert {name: entries.cut(text) for name, text in texts.items()}.keys() == generation.sizes.keys()


@given(one=GENERATIONS, two=GENERATIONS)
def test_generations_share_no_entry(one: Generation, two: Generation) -> None:
    """Two generations with different tags have no entry in common, and neither has the head's."""
    names = list(one.all_names("a1"))

    assert len(names) == len(set(names)) == sum(pieces for pieces, _ in one.sizes.values())
    assert "a1/meta" not in names
    assert one.tag == two.tag or not set(names) & set(two.all_names("a1"))


def test_a_head_without_a_credential_lists_what_is_left_over() -> None:
    """Before the first save is done and while one is deleted the head says so."""
    head = Head(loose=(Generation(tag="x", sizes={"access": (1, 2)}),))

    assert entries.load(entries.dump(head)) == head
    assert head.every() == head.loose


PARTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["version", "now", "loose", "saved_at", "access"]), inner, max_size=4)
    ),
    max_leaves=9,
)


@given(found=PARTS)
def test_any_head_is_read_or_refused(found: object) -> None:
    """Whatever JSON a head is, the outcome is a Head or ValueError, also with a version that is ours."""
    texts = [json.dumps(found)]
    if isinstance(found, dict):
        texts.append(json.dumps({"loose": [], "saved_at": 1} | found | {"version": 1}))
    for text in texts:
        with suppress(ValueError):
            entries.load(text)


def test_a_newer_version_is_told_apart() -> None:
    """What a newer flowpool wrote is not called junk."""
    with pytest.raises(NewerVersion, match="version 2"):
        entries.load('{"version": 2}')


@pytest.mark.parametrize("text", ["PLANTED", '{"PLANTED": 1}', '{"version": 1, "loose": ["PLANTED"]}'])
def test_a_refusal_quotes_nothing(text: str) -> None:
    """The text of a head that makes no sense is not shown."""
    with pytest.raises(ValueError, match=r"valid|writes") as caught:
        entries.load(text)
    assert "PLANTED" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("details", ["x", [], {"kind": "oauth"}, {}])
def test_parts_that_make_no_credential_are_refused(details: object) -> None:
    """Details of the wrong shape, or without their secret, are a ValueError."""
    with pytest.raises(ValueError):  # noqa: PT011
        entries.put_together(details, {"refresh": "x"})
