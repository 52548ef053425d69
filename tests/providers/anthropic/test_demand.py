"""What a request needs."""

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.anthropic.demand import cache_ttl, demand, family, patience
from providers.contract import Head
from routing.words import Demand
from tests.providers.samples import MESSAGES

COUNTING = Head(method="POST", path="/v1/messages/count_tokens?beta=true", headers={})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["model", "messages", "role", "content", "system", "metadata", "user_id", "cache_control", "type"]
            ),
            inner,
            max_size=4,
        )
    ),
)
HEADERS = st.dictionaries(
    st.sampled_from(["x-claude-code-session-id", "x-claude-code-agent-id", "x-stainless-timeout"]), st.text(max_size=8)
)
HOUR, FIVE = timedelta(hours=1), timedelta(minutes=5)


def needed(tree: Any, head: Head = MESSAGES) -> Demand:
    return demand(head, json.dumps(tree).encode(), provider="anthropic")


@given(body=st.binary(max_size=60) | JSON.map(lambda tree: json.dumps(tree).encode()), headers=HEADERS)
def test_no_body_makes_it_fail(body: bytes, headers: dict[str, str]) -> None:
    """Any bytes and any JSON make a demand, always the same one."""
    head = Head(method="POST", path="/v1/messages", headers=headers)
    told = demand(head, body, provider="anthropic")
    assert told == demand(head, body, provider="anthropic")
    assert told.cache_ttl in {HOUR, FIVE}
    assert told.patience > timedelta()


@pytest.mark.parametrize(
    "body",
    [b"", b"null", b"[]", b'"text"', b"{", b'{"model":"m","x":NaN}', b'{"model":"m"', b"\xff", b'{"a":' * 100_000,
     b'{"messages":[{"role":"user"}],"model":"m"} junk'],
)  # fmt: skip
def test_a_body_that_cannot_be_read(body: bytes) -> None:
    """It names no model and belongs to no conversation, but its session may be known from the head."""
    head = Head(method="POST", path="/v1/messages", headers={"x-claude-code-session-id": "s"})
    told = demand(head, body, provider="anthropic")
    assert (told.model, told.family, told.conversation, told.session) == ("", "", None, "s")
    assert not told.side


def test_an_ordinary_turn() -> None:
    """Model, family, session and patience are read; it is no side call and may not be sent twice at will."""
    head = Head(
        method="POST",
        path="/v1/messages?beta=true",
        headers={"x-claude-code-session-id": "s", "x-stainless-timeout": "300"},
    )
    tree = {"model": "claude-opus-5-5[1m]", "max_tokens": 128000, "messages": [{"role": "user", "content": "hi"}]}
    told = needed(tree, head)
    assert (told.provider, told.model, told.family, told.session) == ("anthropic", "claude-opus-5-5[1m]", "opus", "s")
    assert (told.side, told.startup, told.replayable) == (False, False, False)
    assert told.patience == timedelta(seconds=300)
    assert told.conversation is not None


@pytest.mark.parametrize(
    ("model", "line"),
    [
        ("claude-opus-5-5", "opus"),
        ("claude-3-5-sonnet-20241022", "sonnet"),
        ("claude-haiku-4-5-20251001", "haiku"),
        ("Claude-Fable-5-1[1m]", "fable"),
        ("claude-mythos-5", "mythos"),
        ("opus[1m]", "opus"),
        ("claude-sonnet-4@20250514", "sonnet"),
        ("sonnet-20250514[1m]", "sonnet"),
        ("claude-opusculum-1", "claude-opusculum-1"),
        ("gpt-oss:120b", "gpt-oss:120b"),
        ("claude-novel-6-20270101[1m]", "claude-novel-6"),
        ("", ""),
    ],
)
def test_families(model: str, line: str) -> None:
    """A line is a whole word of the id; the long context and the date of a release make no other line."""
    assert family(model) == line


@pytest.mark.parametrize("model", [None, 5, ["claude-opus-5-5"], {"id": "x"}])
def test_a_model_of_the_wrong_type(model: object) -> None:
    """A model that is no text is none; the rest is still read."""
    told = needed({"model": model, "messages": [{"role": "user", "content": "hi"}], "system": "x"})
    assert told.model == ""
    assert told.conversation is not None


QUOTA = {"model": "claude-opus-5-5", "max_tokens": 1, "messages": [{"role": "user", "content": "quota"}]}


@pytest.mark.parametrize(
    ("stream", "head", "streams"),
    [
        (True, MESSAGES, True),
        (False, MESSAGES, False),
        (None, MESSAGES, False),
        (1, MESSAGES, False),
        ("true", MESSAGES, False),
        (True, COUNTING, False),
    ],
)
def test_who_wants_a_stream_says_so(stream: object, head: Head, streams: bool) -> None:
    """Only a turn is streamed, and only if its body says true."""
    tree = {"model": "claude-opus-5-5", "messages": [{"role": "user", "content": "hi"}], "stream": stream}
    assert needed(tree, head).streams is streams
    assert not needed({name: value for name, value in tree.items() if name != "stream"}, head).streams


@pytest.mark.parametrize(
    ("tree", "head", "side", "startup"),
    [
        (QUOTA, MESSAGES, True, True),
        (
            QUOTA | {"messages": [{"role": "user", "content": [{"type": "text", "text": "quota"}]}]},
            MESSAGES,
            True,
            True,
        ),
        (QUOTA, COUNTING, True, False),
        ({}, COUNTING, True, False),
        (QUOTA | {"max_tokens": 2}, MESSAGES, False, False),
        (QUOTA | {"max_tokens": True}, MESSAGES, False, False),
        (QUOTA | {"messages": [{"role": "user", "content": "quotas"}]}, MESSAGES, False, False),
        (QUOTA | {"messages": [{"role": "user", "content": "quota"}] * 2}, MESSAGES, False, False),
        (QUOTA | {"messages": [{"role": "assistant", "content": "quota"}]}, MESSAGES, False, False),
    ],
)
def test_side_calls(tree: dict[str, Any], head: Head, side: bool, startup: bool) -> None:
    """Counting, and the one word that the client sends when it starts, are side calls."""
    told = needed(tree, head)
    assert (told.side, told.startup) == (side, startup)


MARK, HOUR_MARK, BRIEF_MARK = (
    {"type": "ephemeral"},
    {"type": "ephemeral", "ttl": "1h"},
    {"type": "ephemeral", "ttl": "5m"},
)


@pytest.mark.parametrize(
    ("tree", "ttl"),
    [
        ({}, HOUR),
        ({"system": [{"type": "text", "text": "x", "cache_control": MARK}]}, FIVE),
        ({"system": [{"type": "text", "text": "x", "cache_control": BRIEF_MARK}]}, FIVE),
        ({"system": [{"cache_control": BRIEF_MARK}], "tools": [{"cache_control": HOUR_MARK}]}, HOUR),
        ({"messages": [{"content": [{"cache_control": HOUR_MARK}, {"cache_control": MARK}]}]}, HOUR),
        ({"system": [{"cache_control": {"type": "ephemeral", "ttl": "9y"}}]}, FIVE),
        ({"system": [{"cache_control": {"type": "object"}}]}, HOUR),
        ({"system": [{"cache_control": {"type": 5}}]}, HOUR),
        ({"system": [{"cache_control": None}]}, HOUR),
        ({"system": 'a "cache_control": {"type": "ephemeral"} in words'}, HOUR),
    ],
)  # fmt: skip
def test_cache_times(tree: dict[str, Any], ttl: timedelta) -> None:
    """The longest mark counts; a mark without a time is the short one; without any mark an hour is assumed (X96)."""
    assert cache_ttl(json.dumps(tree).encode()) == ttl
    assert cache_ttl(json.dumps(tree, separators=(",", ":")).encode()) == ttl


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("600", 600), ("300", 300), ("1.5", 1.5), ("0", 600), ("-5", 600), ("NaN", 600), ("inf", 600), ("", 600),
     ("86400", 86400), ("86401", 600), ("1e9", 600)],
)  # fmt: skip
def test_patience(text: str, seconds: float) -> None:
    """The client's announced time-out counts when it is sane."""
    assert patience({"x-stainless-timeout": text}) == timedelta(seconds=seconds)


def test_patience_unsaid() -> None:
    """A client that announces nothing waits ten minutes."""
    assert patience({}) == timedelta(seconds=600)


@given(st.integers(0, 100_000))
def test_how_long_a_prompt_is_told_by_its_bytes(length: int) -> None:
    """Nearly; nobody counts tokens here."""
    tree = {"model": "claude-opus-5-5", "messages": [{"role": "user", "content": "x" * length}]}

    assert length // 4 <= needed(tree).tokens <= length // 4 + 50


@pytest.mark.parametrize(
    ("model", "weight"),
    [
        ("claude-opus-5-5", 1.0),
        ("claude-sonnet-5", 0.5),
        ("claude-haiku-5-5", 0.2),
        ("claude-fable-5-1[1m]", 2.0),
        ("another", 1.0),
        ("", 1.0),
    ],
)
def test_what_a_token_of_a_model_weighs(model: str, weight: float) -> None:
    """About as list prices are to each other."""
    assert needed({"model": model}).weight == weight
