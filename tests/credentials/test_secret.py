"""A Secret shows itself to nobody."""

import copy
import dataclasses
import json
import pickle
import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credentials.credential import Credential
from credentials.secret import Secret

PLANTED = "sk-ant-oat01-PLANTED"


@given(text=st.text())
def test_reveal_gives_back_the_text(text: str) -> None:
    """What goes in comes out of reveal, unchanged."""
    assert Secret(text).reveal() == text


@given(one=st.text(st.characters()), two=st.text(st.characters()))
def test_secrets_are_equal_when_their_texts_are(one: str, two: str) -> None:
    """Equality is that of the texts, whatever letters they hold."""
    assert (Secret(one) == Secret(two)) == (one == two)
    assert Secret(one) != one


def test_no_way_of_printing_shows_it() -> None:
    """repr, str, format and the repr of what holds it hide the text."""
    secret = Secret(PLANTED)
    holder = Credential(kind="setup-token", access=secret)
    shown = [repr(secret), str(secret), f"{secret}", f"{secret:>40}", f"{secret!r}", "%s" % secret, repr(holder)]  # noqa: UP031

    assert not any(PLANTED in text for text in shown)
    assert not hasattr(secret, "__dict__")


def test_it_cannot_be_serialised_or_hashed() -> None:
    """pickle, json and hash refuse, and their errors hide the text."""
    for refuse in (pickle.dumps, json.dumps, hash):
        with pytest.raises(TypeError) as caught:
            refuse(Secret(PLANTED))
        assert PLANTED not in "".join(traceback.format_exception(caught.value))


def test_a_copy_is_the_secret_itself() -> None:
    """Copying makes no second text, also inside a dataclass that is turned into a dict."""
    secret = Secret(PLANTED)

    assert copy.copy(secret) is secret
    assert copy.deepcopy([secret])[0] is secret
    assert dataclasses.asdict(Credential(kind="api-key", access=secret, extras={}))["access"] is secret
