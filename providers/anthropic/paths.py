"""Which requests of the Messages API an account of the pool signs."""

import re
from urllib.parse import unquote

from providers.contract import Head

MESSAGES = "/v1/messages"
COUNT_TOKENS = "/v1/messages/count_tokens"
# As docs/facts/claude-code.md#paths says: Every other path belongs to the identity of the client's own login.
_POOLED = (MESSAGES, COUNT_TOKENS)


def bare_path(head: Head) -> str:
    """The path without its query string."""
    return head.path.partition("?")[0]


def is_pooled(head: Head) -> bool:
    """Whether an account of the pool signs this request."""
    return head.method == "POST" and bare_path(head) in _POOLED


def is_misplaced(head: Head) -> bool:
    """Whether the path ends in a pooled path, however it is written, but is not one."""
    path = bare_path(head)
    plain = re.sub(r"/+", "/", unquote(path)).rstrip("/").lower()
    return plain.endswith(_POOLED) and path not in _POOLED
