"""What ended a Claude Code session's last turn, read off the lines of its transcript.

Fact: docs/facts/claude-code.md, "Transcripts".
"""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any

LONGEST = 16 * 1024 * 1024
"""Bytes of a line that is read; none that tells of an error comes near."""
OVERLOADED = 529
EARLIEST = datetime.min.replace(tzinfo=UTC)
_MENDED = re.compile(r"\bflowpool (?:login|add|enable|primary)\b")
"""What stands in an error that only the person can mend."""
_COMMANDS = ("<command-", "<local-command-")
"""How user records begin that are commands of the screen, not prompts."""


class Ending(Enum):
    """What ended a turn that may go well when it is resumed."""

    LIMIT = "a limit"
    OVERLOADED = "an overloaded provider"
    TIMEOUT = "a time-out"
    SERVER = "a server error"


_NAMED = {
    "rate_limit": Ending.LIMIT,
    "rate_limit_error": Ending.LIMIT,
    "overloaded": Ending.OVERLOADED,
    "overloaded_error": Ending.OVERLOADED,
}


@dataclass(frozen=True, slots=True)
class Turn:
    """The latest that is known of the turn; ending: None while it goes on, ended well, or met what no resuming mends."""

    at: datetime
    ending: Ending | None


class Transcript:
    """Takes a transcript's bytes as they come, in whatever pieces; the end of a line may be still to come."""

    def __init__(self, since: datetime = EARLIEST) -> None:
        """since: what was before is not read."""
        self._rest = bytearray()
        self._is_skipping = False
        self.turn = Turn(since, None)

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._rest += line
            if not self._is_skipping and len(self._rest) <= LONGEST:
                self._take(bytes(self._rest))
            self._rest.clear()
            self._is_skipping = False
        self._rest += rest
        if len(self._rest) > LONGEST:
            self._rest.clear()
            self._is_skipping = True

    def restart(self) -> None:
        """The file was cut: what was left of a line is worth nothing."""
        self._rest.clear()
        self._is_skipping = False

    def _take(self, line: bytes) -> None:
        turn = turn_of(line, self.turn.at)
        if turn is not None and turn.at >= self.turn.at:  # records are written a little out of order
            self.turn = turn


def turn_of(line: bytes, unknown: datetime) -> Turn | None:
    """What a line says of the turn; None when nothing. unknown: when it was, where the line does not tell."""
    if b'"assistant"' not in line and b'"user"' not in line:
        return None
    record = _record(line)
    if record is None or record.get("isSidechain") is True:  # a subagent's end is not the session's
        return None
    match record.get("type"):
        case "assistant" if record.get("isApiErrorMessage") is True:
            return Turn(_moment(record, unknown), _ending(record))
        case "assistant":
            return Turn(_moment(record, unknown), None)
        case "user" if record.get("isMeta") is not True and not _is_command(record):
            return Turn(_moment(record, unknown), None)
    return None


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _moment(record: dict[str, Any], unknown: datetime) -> datetime:
    try:
        moment = datetime.fromisoformat(record["timestamp"])
    except (KeyError, TypeError, ValueError):
        return unknown
    return moment if moment.tzinfo is not None else unknown


def _ending(record: dict[str, Any]) -> Ending | None:
    """The trigger that an API error is; None for logins, money, the request's own faults, and what nobody names."""
    error = record.get("error")
    if error == "server_error":
        return _server_error(_text(record), record.get("apiErrorStatus"))
    return _NAMED.get(error) if isinstance(error, str) else None


def _server_error(text: str, status: object) -> Ending | None:
    if _MENDED.search(text):
        return None
    if status == OVERLOADED:
        return Ending.OVERLOADED
    return Ending.TIMEOUT if "timed out" in text.lower() else Ending.SERVER


def _text(record: dict[str, Any]) -> str:
    """All that the record's message says."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _is_command(record: dict[str, Any]) -> bool:
    return _text(record).startswith(_COMMANDS)
