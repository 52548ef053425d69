"""Which requests of the Messages API an account of the pool signs."""

import posixpath
import re
from urllib.parse import unquote

from providers.contract import Head

HOSTS = frozenset({"api.anthropic.com"})
MESSAGES = "/v1/messages"
COUNT_TOKENS = "/v1/messages/count_tokens"
# As docs/facts/claude-code.md#paths says: Every other path belongs to the identity of the client's own login.
_POOLED = (MESSAGES, COUNT_TOKENS)
_CHATGPT = "/backend-api/"  # where Codex asks ChatGPT; Anthropic serves nothing under it


def bare_path(head: Head) -> str:
    """The path without its query string."""
    return head.path.partition("?")[0]


def is_pooled(head: Head) -> bool:
    """Whether an account of the pool signs this request."""
    return head.method == "POST" and bare_path(head) in _POOLED


def is_misplaced(head: Head) -> bool:
    """Whether the path ends in a pooled path, however it is written, but is not one."""
    path = bare_path(head)
    return path not in _POOLED and _plain(path).endswith(_POOLED)


def is_foreign(head: Head) -> bool:
    """Whether the path is one of ChatGPT's, however it is written."""
    path = bare_path(head)
    return path not in _POOLED and (_plain(path) + "/").startswith(_CHATGPT)


def _plain(path: str) -> str:
    """The path as the least strict of servers might read it."""
    for _ in range(3):
        path = unquote(path)
    path = re.split(r"[?#]", path.replace("\\", "/"), maxsplit=1)[0]
    path = re.sub(r";[^/]*", "", path)  # what follows a semicolon is a segment's parameters
    return posixpath.normpath(re.sub(r"/+", "/", path)).lower()
