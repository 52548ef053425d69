"""What the client asks: turns of Claude Code, written out as they go on the wire."""

import json
from typing import Any

from bench.client import Address
from tests.upstream.asks import turn

CLIENT = "sk-ant-oat01-the-clients-own-credential"
LINE = 'def parse(text: str) -> list["Word"]:\n    return [Word(part) for part in text.split() if part]\n'


def wire(address: Address, *, order: str = "", size: int = 0, stream: bool = False) -> bytes:
    """One turn of a conversation of its own; order: what the fake upstream is to do; size: bytes of its body, at least."""
    messages = _history(size) if size else None
    asked = turn(CLIENT, stream=stream, messages=messages)
    if order:
        asked = asked.having(("x-bench", order))
    return asked.head("{}:{}".format(*address)) + asked.body


def _history(size: int) -> list[dict[str, Any]]:
    """A conversation about code that is so long."""
    said = LINE * 200
    count = size // len(json.dumps(said)) + 1
    roles = ("user", "assistant")
    history = [{"role": roles[n % 2], "content": [{"type": "text", "text": f"{n}: {said}"}]} for n in range(count)]
    return [*history, {"role": "user", "content": "go on"}]
