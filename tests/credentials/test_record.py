"""Credentials survive the way to plain fields and back."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credentials import record
from credentials.credential import KINDS, Credential
from credentials.secret import Secret

TEXT = st.text(st.characters(codec="utf-8"), max_size=9)
CREDENTIALS = st.builds(
    Credential,
    kind=st.sampled_from(KINDS),
    access=st.builds(Secret, TEXT),
    refresh=st.none() | st.builds(Secret, TEXT),
    expires_at=st.none() | st.datetimes(timezones=st.just(UTC)),
    refresh_expires_at=st.none() | st.datetimes(timezones=st.just(UTC)),
    extras=st.dictionaries(TEXT, TEXT | st.lists(TEXT, max_size=3).map(tuple), max_size=3),
)


@given(credential=CREDENTIALS)
def test_nothing_is_lost_on_the_way(credential: Credential) -> None:
    """What is dumped, written as JSON and loaded is equal."""
    assert credential == record.load(json.loads(json.dumps(record.dump(credential))))


GOOD: dict[str, object] = {"kind": "oauth", "access": "at", "refresh": None, "expires_at": None, "extras": {}}


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "x"},
        {"kind": []},
        {"access": 1},
        {"refresh": 1},
        {"extras": []},
        {"extras": {"a": 1}},
        {"extras": {"a": [1]}},
        {"expires_at": 1},
        {"expires_at": "soon"},
        {"refresh_expires_at": "soon"},
        {"expires_at": datetime(2026, 1, 5).isoformat()},  # noqa: DTZ001
    ],
    ids=repr,
)
def test_wrong_fields_are_refused(change: dict[str, object]) -> None:
    """Each field of a wrong type is a ValueError."""
    assert record.load(GOOD).kind == "oauth"

    with pytest.raises(ValueError):  # noqa: PT011
        record.load(GOOD | change)


def test_an_entry_must_be_an_object() -> None:
    """What is no object is a ValueError."""
    with pytest.raises(ValueError, match="not an object"):
        record.load([])
