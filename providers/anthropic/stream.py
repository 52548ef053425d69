"""What is read off a stream of the Messages API as it passes."""

from dataclasses import fields, replace

import msgspec

from providers.anthropic.errors import dig, text
from providers.contract import ErrorEvent, Usage

_SILENT = frozenset({"content_block_delta", "content_block_stop", "ping"})


class MessagesReader:
    """Follows one stream by the names of its events; content is never parsed.

    Fact: docs/facts/anthropic.md#streams.
    """

    def __init__(self) -> None:
        self.usage = Usage()
        self.is_complete = False
        self.may_end = False

    def see(self, event: str, data: bytes) -> bool | ErrorEvent:
        """Take one event; True when it decides that the answer is good, an ErrorEvent when that it is not."""
        if event in _SILENT:
            return False
        if event == "error":
            return ErrorEvent(data=data)
        if event == "" and data:
            # The data names the event as well, so a stream that leaves the name out can still be followed.
            event = text(dig(_parsed(data), "type"))
            return self.see(event, data) if event else False
        return self._is_deciding(event, data)

    def _is_deciding(self, event: str, data: bytes) -> bool:
        match event:
            case "content_block_start":
                return True
            case "message_start":
                self._charge(dig(_parsed(data), "message", "usage"))
            case "message_delta":
                return self._message_delta(_parsed(data))
            case "message_stop":
                self.is_complete = True
                return True
            case _:
                pass
        return False

    def _message_delta(self, tree: object) -> bool:
        self._charge(dig(tree, "usage"))
        if not text(dig(tree, "delta", "stop_reason")):
            return False
        self.may_end = True
        return True

    def _charge(self, usage: object) -> None:
        """Later counts replace earlier ones; what is absent replaces nothing."""
        self.usage = merged(self.usage, read_usage(usage))


def read_usage(tree: object) -> Usage:
    """The counts of one usage object; what is no count is not said.

    A write whose lifetime is not told counts as the shorter one.
    """
    brief = _count(dig(tree, "cache_creation", "ephemeral_5m_input_tokens"))
    long = _count(dig(tree, "cache_creation", "ephemeral_1h_input_tokens"))
    if brief is None and long is None:
        brief = _count(dig(tree, "cache_creation_input_tokens"))
    return Usage(
        input=_count(dig(tree, "input_tokens")),
        output=_count(dig(tree, "output_tokens")),
        cache_read=_count(dig(tree, "cache_read_input_tokens")),
        cache_write_5m=brief,
        cache_write_1h=long,
    )


def merged(before: Usage, after: Usage) -> Usage:
    """Cumulative counts brought up to date.

    A total of writes that comes without its split would count twice once the split is known, so it is left out then.
    """
    told = {f.name: getattr(after, f.name) for f in fields(Usage) if getattr(after, f.name) is not None}
    if before.cache_write_1h is not None and after.cache_write_1h is None:
        told.pop("cache_write_5m", None)
    return replace(before, **told)


def whole_usage(body: bytes) -> Usage | None:
    """What a whole JSON answer was charged with; None when it does not say."""
    usage = dig(_parsed(body), "usage")
    return read_usage(usage) if isinstance(usage, dict) else None


def _parsed(data: bytes) -> object:
    try:
        tree: object = msgspec.json.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return tree


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
