"""Which session and conversation a request belongs to."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.anthropic.demand import demand
from providers.contract import Head
from routing.words import ConversationId, SessionId

SESSION = "888bfedc-0000-4000-8000-751384a913d3"
HASH = "0" * 64
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


def turn(first: Any, *, user_id: object = None, system: object = None, then: tuple[Any, ...] = ()) -> dict[str, Any]:
    tree: dict[str, Any] = {"model": "claude-opus-5-5", "messages": [{"role": "user", "content": first}, *then]}
    if user_id is not None:
        tree["metadata"] = {"user_id": user_id}
    if system is not None:
        tree["system"] = system
    return tree


def placed(tree: object, **headers: str) -> tuple[SessionId | None, ConversationId | None]:
    fields = {name.replace("_", "-"): text for name, text in headers.items()}
    told = demand(Head(method="POST", path="/v1/messages", headers=fields), json.dumps(tree).encode(), provider="x")
    return told.session, told.conversation


def new_form(session: str) -> str:
    return json.dumps({"device_id": HASH, "account_uuid": "", "session_id": session})


def old_form(session: str) -> str:
    return f"user_{HASH}_account__session_{session}"


@given(session=st.uuids().map(str), first=TEXT)
def test_one_key_however_the_session_arrives(session: str, first: str) -> None:
    """Header, new and old form of the user id all make the same session and conversation (X98)."""
    by_header = placed(turn(first), x_claude_code_session_id=f" {session} ")
    assert by_header[0] == session
    assert placed(turn(first, user_id=new_form(session))) == by_header
    assert placed(turn(first, user_id=old_form(session))) == by_header


@pytest.mark.parametrize("long", ["x" * 257, "x" * 100_000])
def test_a_sessions_name_is_bounded(long: str) -> None:
    """One that is longer than a pin may name is known by a short one, the same in header and body; one that fits by itself."""
    session, conversation = placed(turn("hi"), x_claude_code_session_id=long)
    assert session is not None
    assert len(session) == len("long-") + 32
    assert (session, conversation) == placed(turn("hi", user_id=new_form(long)))
    assert session != placed(turn("hi"), x_claude_code_session_id=long + "x")[0]
    assert placed(turn("hi"), x_claude_code_session_id="x" * 256)[0] == "x" * 256


@given(firsts=st.lists(TEXT.map(str.strip).filter(bool), min_size=2, max_size=5, unique=True))
def test_first_messages_part_conversations(firsts: list[str]) -> None:
    """Subagents that share a session are conversations of their own (X95)."""
    told = {placed(turn(first), x_claude_code_session_id=SESSION) for first in firsts}
    assert len(told) == len(firsts)
    assert {session for session, _ in told} == {SESSION}


BARE = placed(turn("fix it"), x_claude_code_session_id=SESSION)
REMINDER = "<system-reminder>\nToday is Monday.\n</system-reminder>"


@pytest.mark.parametrize(
    "first",
    [
        [{"type": "text", "text": "fix it"}],
        [{"type": "text", "text": "fix it", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
        [{"type": "text", "text": REMINDER}, {"type": "text", "text": "fix it\n"}],
        REMINDER + "\nfix it" + REMINDER,
        [{"type": "image", "source": {"data": "x"}}, {"type": "text", "text": "fix it"}],
        [{"type": "text", "text": "fix it"}, {"type": "text", "text": 5}, 7, None],
    ],
)
def test_what_changes_from_turn_to_turn_does_not_count(first: Any) -> None:
    """Reminders, cache marks, the form of the content and blocks that hold no text make no other conversation."""
    assert placed(turn(first), x_claude_code_session_id=SESSION) == BARE


def test_later_messages_do_not_count() -> None:
    """A conversation keeps its key as it grows, whatever roles come in it."""
    then = ({"role": "system", "content": "x"}, {"role": "assistant", "content": []}, {"role": "user", "content": "y"})
    assert placed(turn("fix it", then=then), x_claude_code_session_id=SESSION) == BARE
    leading = {"messages": [{"role": "system", "content": "x"}, 5, {"role": "user", "content": "fix it"}]}
    assert placed(leading, x_claude_code_session_id=SESSION) == BARE


def test_an_agent_is_a_conversation() -> None:
    """Two agents that begin with the same words are told apart."""
    one = placed(turn("fix it"), x_claude_code_session_id=SESSION, x_claude_code_agent_id="a1")
    two = placed(turn("fix it"), x_claude_code_session_id=SESSION, x_claude_code_agent_id="a2")
    assert one[0] == two[0] == SESSION
    assert len({one[1], two[1], BARE[1]}) == 3


def test_an_unclosed_reminder_is_text() -> None:
    """Only a whole reminder is left out."""
    assert placed(turn("<system-reminder>fix it"), x_claude_code_session_id=SESSION) != BARE


@pytest.mark.parametrize(
    "user_id", [None, "user-17", 5, "{", "[]", '{"session_id":5}', "user_x_session_", '{"session_id":""}', "\ud800"]
)
def test_without_a_session_the_body_names_it(user_id: object) -> None:
    """System text and first message stand in for a session id; the client's version in the system does not count."""
    system = [{"type": "text", "text": "x-anthropic-billing-header: cc_version=1"}, {"type": "text", "text": "You are"}]
    session, conversation = placed(turn("fix it", user_id=user_id, system=system))
    assert session is not None
    assert session.startswith("body-")
    assert conversation is not None
    assert placed(turn("fix it", system="You are")) == (session, conversation)
    assert placed(turn("fix that", system="You are"))[0] != session
    assert placed(turn("fix it", system="You were"))[0] != session


@pytest.mark.parametrize("tree", [{}, {"messages": []}, {"messages": 5}, {"messages": [{"role": "assistant"}]}])
def test_a_request_that_says_nothing_of_itself(tree: dict[str, Any]) -> None:
    """Without a session and without words a request cannot be told from others."""
    assert placed(tree) == (None, None)
    session, conversation = placed(tree, x_claude_code_session_id=SESSION)
    assert session == SESSION
    assert conversation is not None


def test_only_the_beginning_of_a_long_text_counts() -> None:
    """A text is read up to a bound, which reminders within it do not move."""
    long = "x" * 100_000
    assert placed(turn(long)) == placed(turn(long + "y")) == placed(turn(REMINDER + long + REMINDER + "z"))
    assert placed(turn(long[1:])) != placed(turn(long))


@pytest.mark.parametrize(
    ("text", "read_as"),
    [
        (r"cut \ud83d", r"cut \ufffd"),
        (r"cut \ude00", r"cut \ufffd"),
        (r"\ud83d\ud83d\ude00", r"\ufffd\ud83d\ude00"),
        (r"\ud83d\ude00\ude00", r"\ud83d\ude00\ufffd"),
        (r"\\ud83d \\\ud83d", r"\\ud83d \\\ufffd"),
    ],
)
def test_half_a_character(text: str, read_as: str) -> None:
    """A text that was cut within a character is still read, and with it all the rest of the body."""
    head = Head(method="POST", path="/v1/messages", headers={"x-claude-code-session-id": SESSION})
    whole = '{"model":"m","messages":[{"role":"user","content":"%s"}]}'
    told = demand(head, (whole % text).encode(), provider="x")
    assert told.model == "m"
    assert told.conversation is not None
    assert told == demand(head, (whole % read_as).encode(), provider="x")


def test_an_unreadable_body() -> None:
    """A body that cannot be read leaves the session that the head names, and no conversation."""
    head = Head(method="POST", path="/v1/messages", headers={"x-claude-code-session-id": SESSION})
    told = demand(head, b"{", provider="x")
    assert (told.session, told.conversation) == (SESSION, None)
