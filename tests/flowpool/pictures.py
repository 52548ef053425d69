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
            "in_flight": 2, "queued": 0, "requests": 31,
        },
        {
            "id": "b2", "name": "a-name-of-thirty-two-characters-", "provider": "anthropic", "kind": "api-key", "enabled": False,
            "rank": None, "expires_at": None, "refresh_expires_at": None, "checked_at": None, "state": "disabled", "because": "disabled by you", "windows": [], "holds": [], "in_flight": 0, "queued": 0, "requests": 0,
        },
    ],
    "conversations": 3,
    "pins": [],
    "queued": 0,
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

STORY: dict[str, Any] = {
    "id": "f4f2ad99cab6",
    "at": "2026-01-05T12:00:07.900+00:00",
    "path": "/v1/messages",
    "model": "claude-opus-5-5",
    "family": "opus",
    "session": "11111111-2222",
    "conversation": "60a9dfd2",
    "size": 41_234,
    "stream": True,
    "side": False,
    "strategy": "perishing",
    "warm": "work",
    "home": "work",
    "choices": [
        {
            "at": "2026-01-05T12:00:07.901+00:00", "kind": "use", "account": "work", "because": "sticky", "until": None, "times": 1,
            "accounts": [
                {"account": "work", "may": True, "because": "may serve", "row": None, "until": None, "order": None, "in_flight": 2, "windows": {"5h": 0.4}},
                {"account": "home", "may": True, "because": "may serve", "row": None, "until": None, "order": None, "in_flight": 0, "windows": {}},
            ],
        },
        {
            "at": "2026-01-05T12:00:08.100+00:00", "kind": "wait", "account": None, "because": "others are moving there just now",
            "until": "2026-01-05T12:00:09.100+00:00", "times": 14, "accounts": [],
        },
        {
            "at": "2026-01-05T12:00:22.100+00:00", "kind": "use", "account": "home", "because": "hop: work refused: 7d limit until 14:00 UTC",
            "until": None, "times": 1,
            "accounts": [
                {"account": "home", "may": True, "because": "7d perishes soonest (0.021/h)", "row": None, "until": None, "order": 1, "in_flight": 0, "windows": {"5h": 0.02, "7d": 0.4}},
                {"account": "work", "may": False, "because": "7d limit", "row": 13, "until": "2026-01-05T14:00:00+00:00", "order": None, "in_flight": 0, "windows": {"7d": 1.0}},
            ],
        },
    ],
    "attempts": [
        {"account": "work", "row": 13, "verdict": "limit", "because": "7d limit until 14:00 UTC", "status": 429, "sent_at": "2026-01-05T12:00:07.901+00:00", "took_ms": 190.4, "waited_ms": 0.0},
        {"account": "home", "row": 8, "verdict": "ok", "because": "answered", "status": 200, "sent_at": "2026-01-05T12:00:22.101+00:00", "took_ms": 8123.0, "waited_ms": 50.0},
    ],
    "waited_ms": 14_050.0,
    "status": 200,
    "answer": None,
    "ended": "complete",
    "heartbeats": 2,
    "first_byte_ms": 14_812.5,
    "total_ms": 22_321.0,
    "usage": {"input": 312, "output": 811, "cache_read": 0, "cache_write_5m": 0, "cache_write_1h": 40_100},
    "account": "home",
    "because": "hop: work refused: 7d limit until 14:00 UTC",
}  # fmt: skip
