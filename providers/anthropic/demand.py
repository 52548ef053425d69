"""What a request to the Messages API needs, told from its head and its body."""

import re
from collections.abc import Mapping
from datetime import timedelta
from functools import lru_cache
from types import MappingProxyType

import msgspec

from providers.anthropic import conversations
from providers.anthropic.paths import COUNT_TOKENS, bare_path
from providers.contract import Head
from providers.times import number
from routing.words import Demand, Family

# See docs/facts/anthropic.md#model-ids.
FAMILIES = frozenset({"haiku", "sonnet", "opus", "fable", "mythos"})
# Their prices beside an Opus's. See docs/facts/anthropic.md#prices.
WEIGHTS = MappingProxyType({"haiku": 0.2, "sonnet": 0.5, "opus": 1.0, "fable": 2.0, "mythos": 2.0})
BYTES_PER_TOKEN = 4  # of a body; what a conversation's answers tell of its length corrects it
_LONG_CONTEXT = re.compile(r"\[1m\]$")
_DATE = re.compile(r"[-@][0-9]{8}$")

# See docs/facts/anthropic.md#prompt-cache.
_TTLS = {"5m": timedelta(minutes=5), "1h": timedelta(hours=1)}
_UNMARKED_TTL = timedelta(hours=1)  # nothing is cached then, so staying costs nothing
_MARK_KEY = b'"cache_control"'
_MARK = re.compile(rb'"cache_control"\s*:\s*(\{[^{}]{0,200}\})')

PATIENCE = timedelta(seconds=600)  # See docs/facts/claude-code.md#headers.
_PATIENCE_BOUNDS = (timedelta(seconds=1), timedelta(days=1))

# A client that cuts a text within a character leaves half a surrogate pair, for which the parser refuses all the rest.
_HALF = re.compile(
    rb"(?<!\\)((?:\\\\)*)\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD])[c-fC-F][0-9a-fA-F]{2})"
)

Unreadable = (msgspec.MsgspecError, ValueError, RecursionError)
_NOTHING = msgspec.Raw(b"null")


class Body(msgspec.Struct):
    """The top level of a request's body: what is large stays unread until it is asked for."""

    model: msgspec.Raw = _NOTHING
    max_tokens: msgspec.Raw = _NOTHING
    messages: msgspec.Raw = _NOTHING
    system: msgspec.Raw = _NOTHING
    metadata: msgspec.Raw = _NOTHING
    stream: msgspec.Raw = _NOTHING


class _Mark(msgspec.Struct):
    type: str
    ttl: str = "5m"


_BODY = msgspec.json.Decoder(Body)
_MARK_DECODER = msgspec.json.Decoder(_Mark)


def demand(head: Head, body: bytes, *, provider: str) -> Demand:
    """What the request needs; of a body that cannot be read, only what the head tells."""
    parsed = _parsed(body)
    counts = bare_path(head) == COUNT_TOKENS
    model = conversations.plain_text(parsed.model) if parsed else ""
    thread = conversations.read(head.headers, parsed) if parsed else conversations.unread(head.headers)
    startup = not counts and parsed is not None and thread.is_quota and bytes(parsed.max_tokens) == b"1"
    return Demand(
        provider=provider,
        model=model,
        family=family(model),
        conversation=thread.conversation,
        session=thread.session,
        cache_ttl=cache_ttl(body),
        tokens=len(body) // BYTES_PER_TOKEN,
        weight=WEIGHTS.get(family(model), 1.0),
        side=counts or startup,
        startup=startup,
        patience=patience(head.headers),
        replayable=head.method in {"GET", "HEAD"},
        streams=not counts and parsed is not None and bytes(parsed.stream) == b"true",
    )


def _parsed(body: bytes) -> Body | None:
    try:
        return _BODY.decode(body)
    except Unreadable:
        pass
    try:
        return _BODY.decode(_HALF.sub(rb"\1\\ufffd", body))
    except Unreadable:
        return None


def family(model: str) -> Family:
    """The model's line, or the model itself, without its date, when it belongs to no known line."""
    name = _DATE.sub("", _LONG_CONTEXT.sub("", model.lower()))
    return Family(next((part for part in name.split("-") if part in FAMILIES), name))


def cache_ttl(body: bytes) -> timedelta:
    """The longest time for which the body asks to keep its prompt cached."""
    longest, at, bound = timedelta(), body.find(_MARK_KEY), max(_TTLS.values())
    while at >= 0 and longest < bound:
        match = _MARK.match(body, at)
        longest = max(longest, _mark_ttl(match[1])) if match else longest
        at = body.find(_MARK_KEY, at + len(_MARK_KEY))
    return longest or _UNMARKED_TTL


@lru_cache(maxsize=64)  # a body marks many blocks, all alike
def _mark_ttl(mark: bytes) -> timedelta:
    try:
        read = _MARK_DECODER.decode(mark)
    except Unreadable:
        return timedelta()
    return _TTLS.get(read.ttl, _TTLS["5m"]) if read.type == "ephemeral" else timedelta()


def patience(headers: Mapping[str, str]) -> timedelta:
    """How long the client said it will wait for an answer."""
    seconds = number(headers.get("x-stainless-timeout", ""))
    shortest, longest = _PATIENCE_BOUNDS
    if seconds is None or not shortest.total_seconds() <= seconds <= longest.total_seconds():
        return PATIENCE
    return timedelta(seconds=seconds)
