"""Credential texts that are planted in tests and told apart by the fake."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from typing import Literal

type TokenKind = Literal["setup-token", "oauth", "api-key"]

_PREFIX = {"setup-token": "sk-ant-oat01-", "oauth": "sk-ant-oat01-", "api-key": "sk-ant-api03-"}
_COUNT = itertools.count(1)


def plant(name: str, kind: TokenKind = "setup-token") -> str:
    """A token no other call returns, such as sk-ant-oat01-TEST-work-1f40-0001, under 60 characters past its prefix."""
    return f"{_PREFIX[kind]}TEST-{name}-{os.getpid():x}-{next(_COUNT):04d}"


def login(access: str, *, expires_ms: int = 4_102_444_800_000) -> str:
    """The JSON of Claude Code's .credentials.json around that access token."""
    refresh = access.replace("oat01", "ort01")
    inner = {"accessToken": access, "refreshToken": refresh, "expiresAt": expires_ms, "scopes": ["user:inference"]}
    return json.dumps({"claudeAiOauth": {**inner, "subscriptionType": "max", "rateLimitTier": "default_claude_max_5x"}})


def label(token: str) -> str:
    """What a log may say of a token that no account owns."""
    return f"unknown-{hashlib.sha256(token.encode()).hexdigest()[:8]}"
