"""Which session and which conversation a request belongs to: one key, however it came to us."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import Protocol

import msgspec

from routing.pins import LONGEST_SESSION
from routing.words import ConversationId, SessionId

SESSION_HEADER = "x-claude-code-session-id"
AGENT_HEADER = "x-claude-code-agent-id"
# As docs/facts/claude-code.md#sessions says: before 2.1.78 the user id was this text, since then it is JSON in a text.
_OLD_USER_ID = re.compile(r"user_.*_session_(?P<session>[^_\s]+)", re.DOTALL)
_REMINDER, _REMINDER_END = "<system-reminder>", "</system-reminder>"
_BILLING = "x-anthropic-billing-header"  # names the client's version, which may change within a conversation
_QUOTA = "quota"
_DIGEST_BYTES = 16
# Conversations differ early; reading on would cost time with every turn of a long one.
_MOST_TEXT = 100_000
_MOST_BLOCKS = 200

_Unreadable = (msgspec.MsgspecError, ValueError, RecursionError)


class Parts(Protocol):
    """The parts of a body that tell conversations apart."""

    messages: msgspec.Raw
    system: msgspec.Raw
    metadata: msgspec.Raw


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """Where a request belongs.

    is_quota: whether its only message is the one word of the client's start-up check.
    """

    session: SessionId | None
    conversation: ConversationId | None
    is_quota: bool = False


class _Message(msgspec.Struct):
    role: str = ""
    content: msgspec.Raw = msgspec.Raw(b"null")


class _Block(msgspec.Struct):
    type: str = ""
    text: str = ""


class _Metadata(msgspec.Struct):
    user_id: str = ""


class _UserId(msgspec.Struct):
    session_id: str = ""


_LIST = msgspec.json.Decoder(list[msgspec.Raw])
_MESSAGE = msgspec.json.Decoder(_Message)
_BLOCK = msgspec.json.Decoder(_Block)
_METADATA = msgspec.json.Decoder(_Metadata)
_USER_ID = msgspec.json.Decoder(_UserId)
_TEXT = msgspec.json.Decoder(str)


def read(headers: Mapping[str, str], parts: Parts) -> Thread:
    """The session and conversation of a request whose body could be read."""
    messages = _items(parts.messages)
    first = next((m for m in map(_message, messages) if m.role == "user"), _Message())
    said = _own_words(first.content)
    session = named_session(headers, parts.metadata)
    if session is None:
        system = _own_words(parts.system)
        session = SessionId(f"body-{_digest(system, said)}") if system or said else None
    conversation = None
    if session is not None:
        conversation = ConversationId(_digest(session, headers.get(AGENT_HEADER, "").strip(), said))
    return Thread(session=session, conversation=conversation, is_quota=len(messages) == 1 and said == _QUOTA)


def unread(headers: Mapping[str, str]) -> Thread:
    """The session of a request whose body could not be read; it cannot be told from other conversations."""
    return Thread(session=named_session(headers, msgspec.Raw(b"null")), conversation=None)


def named_session(headers: Mapping[str, str], metadata: msgspec.Raw) -> SessionId | None:
    """The session id that the client names in its header, or else in the body's metadata."""
    named = headers.get(SESSION_HEADER, "").strip() or _session_in(_user_id(metadata)).strip()
    if (
        len(named) > LONGEST_SESSION
    ):  # as long as a client likes: it is kept with each of its requests, and a pin of it could not be
        named = f"long-{_digest(named)}"
    return SessionId(named) if named else None


def plain_text(raw: msgspec.Raw) -> str:
    """A JSON text; empty for every other value."""
    try:
        return _TEXT.decode(raw)
    except _Unreadable:
        return ""


def _user_id(metadata: msgspec.Raw) -> str:
    try:
        return _METADATA.decode(metadata).user_id
    except _Unreadable:
        return ""


def _session_in(user_id: str) -> str:
    match = _OLD_USER_ID.fullmatch(user_id)
    if match is not None:
        return match["session"]
    try:
        return _USER_ID.decode(user_id).session_id
    except _Unreadable:
        return ""


def _items(raw: msgspec.Raw) -> list[msgspec.Raw]:
    try:
        return _LIST.decode(raw)
    except _Unreadable:
        return []


def _message(raw: msgspec.Raw) -> _Message:
    try:
        return _MESSAGE.decode(raw)
    except _Unreadable:
        return _Message()


def _own_words(content: msgspec.Raw) -> str:
    """The beginning of what a text or a list of blocks says, without what the client changes from turn to turn."""
    blocks = islice(_items(content), _MOST_BLOCKS)
    kept = (_without_reminders(text).strip() for text in (plain_text(content), *map(_block_text, blocks)))
    return "\n".join(text for text in kept if text and not text.startswith(_BILLING))


def _block_text(raw: msgspec.Raw) -> str:
    try:
        block = _BLOCK.decode(raw)
    except _Unreadable:
        return ""
    return block.text if block.type == "text" else ""


def _without_reminders(text: str) -> str:
    """The beginning of the text without its reminder blocks, in time that grows with its length only."""
    kept, length, at = list[str](), 0, 0
    while length < _MOST_TEXT and (start := text.find(_REMINDER, at)) >= 0:
        end = text.find(_REMINDER_END, start)
        if end < 0:
            break
        kept.append(text[at:start])
        length += start - at
        at = end + len(_REMINDER_END)
    return "".join((*kept, text[at : at + _MOST_TEXT]))[:_MOST_TEXT]


def _digest(*parts: str) -> str:
    """A short name for several texts; their lengths go in, so that no two lists run together."""
    total = blake2b(digest_size=_DIGEST_BYTES)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        total.update(len(data).to_bytes(8))
        total.update(data)
    return total.hexdigest()
