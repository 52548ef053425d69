"""A status document with everything in it."""

from typing import Any

FULL: dict[str, Any] = {
    "version": "0.1.0",
    "running": True,
    "pid": 4711,
    "listen": {"claude": "127.0.0.1:3456"},
    "strategy": "perishing",
    "next": {"opus": "home", "fable": None},
    "accounts": [
        {
            "id": "a1", "name": "work", "provider": "anthropic", "kind": "setup-token", "enabled": True, "rank": 1,
            "expires_at": "2026-08-05T12:00:00+00:00", "refresh_expires_at": None, "checked_at": "2026-01-05T11:59:00+00:00",
            "state": "held", "because": "5h limit until 14:20",
            "windows": [
                {"key": "5h", "used": 1.0, "resets_at": "2026-01-05T14:20:00+00:00", "status": "rejected", "source": "answer", "taken_at": "2026-01-05T12:00:00+00:00"},
                {"key": "7d", "used": 0.426, "resets_at": "2026-01-08T09:00:00Z", "status": "allowed", "source": "usage", "taken_at": "2026-01-05T12:00:00+00:00"},
                {"key": "7d_oi", "used": None, "resets_at": None, "status": None, "source": "restored", "taken_at": "2026-01-05T12:00:00+00:00"},
            ],
            "holds": [
                {"scope": "account", "until": "2026-01-05T14:20:00+00:00", "because": "5h limit", "row": 12},
                {"scope": "fable", "until": "2026-03-28T09:00:00+00:00", "because": "7d_oi limit", "row": 11},
            ],
            "in_flight": 2, "requests": 31,
        },
        {
            "id": "b2", "name": "a-name-of-thirty-two-characters-", "provider": "anthropic", "kind": "api-key", "enabled": False,
            "rank": None, "expires_at": None, "refresh_expires_at": None, "checked_at": None, "state": "disabled", "because": "disabled by you", "windows": [], "holds": [], "in_flight": 0, "requests": 0,
        },
    ],
    "conversations": 3,
    "notices": [],
}  # fmt: skip

LINE: dict[str, Any] = {
    "at": "2026-01-05T12:00:07.900+00:00",
    "id": "f4f2ad99cab6",
    "conversation": "60a9dfd23fd70a97fa5cc9d5fd040848",
    "model": "claude-opus-5-5",
    "path": "/v1/messages",
    "account": "home",
    "because": "hop: work refused: 7d limit until 05:42 UTC",
    "tried": [
        {"account": "work", "status": 429, "row": 13, "verdict": "limit"},
        {"account": "home", "status": 200, "row": 8, "verdict": "ok"},
    ],
    "status": 200,
    "first_byte_ms": 14.0,
    "total_ms": 20.6,
    "usage": {"input": 12, "output": 25, "cache_read": 9000, "cache_write_5m": 100, "cache_write_1h": 700},
    "answer": None,
    "ended": "complete",
}
