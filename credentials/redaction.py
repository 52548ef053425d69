"""Redaction: text that somebody else wrote, without what may be a credential."""

import re

MASKED = "[masked]"
_TOKENS = re.compile(
    r"sk-ant-[A-Za-z0-9_-]+"
    r"|\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?"  # a JSON Web Token
    r"|(?i:(?<=bearer ))"  # what follows, unless it is a plain word: "invalid bearer token"
    r"(?=[^\s'\"\\,;]{20}|[^\s'\"\\,;]*(?:[0-9]|[-_.][^\s'\"\\,;]))[^\s'\"\\,;]{8,}"
)
_HEADERS = re.compile(
    r"(?i)(?:proxy-authorization|authorization|x[-_](?:[a-z]+[-_])?api[-_]key|x-flowpool-key|cookie)\b.*"
)

# Most text holds none of these, and looking for them costs a twentieth of the patterns above.
_HINTS = ("sk-ant-", "eyj", "bearer ", "authorization", "api", "flowpool-key", "cookie")


def without_tokens(text: str) -> str:
    """The text without what has the shape of a token."""
    return _TOKENS.sub(MASKED, text)


def redacted(text: str) -> str:
    """The text without tokens, and without what follows the name of a header of credentials up to the line's end."""
    low = text.lower()
    if not any(hint in low for hint in _HINTS):
        return text
    return _HEADERS.sub(MASKED, without_tokens(text))
