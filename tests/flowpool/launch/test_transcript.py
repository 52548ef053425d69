"""flowpool/launch/transcript.py: what ended a session's last turn."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpool.launch import transcript
from flowpool.launch.transcript import Ending, Transcript

NOON = "2026-11-30T12:00:{:02d}.000Z"


def record(kind: str, at: int = 0, text: str = "", **more: Any) -> bytes:
    """A line as Claude Code writes it; at: seconds after noon."""
    message = {"role": kind, "content": [{"type": "text", "text": text}]}
    return json.dumps(
        {"type": kind, "isSidechain": False, "timestamp": NOON.format(at), "message": message} | more
    ).encode()


def failed(error: str = "rate_limit", at: int = 0, text: str = "", **more: Any) -> bytes:
    """The line of an API error."""
    return record("assistant", at, text, **{"error": error, "isApiErrorMessage": True} | more)


def read(*lines: bytes) -> Ending | None:
    """What a transcript of these lines says in the end."""
    found = Transcript()
    found.feed(b"".join(line + b"\n" for line in lines))
    return found.turn.ending


@pytest.mark.parametrize(
    ("error", "status", "text", "ending"),
    [
        ("rate_limit", 429, "You've hit your session limit · resets 5:08pm (UTC)", Ending.LIMIT),
        ("rate_limit", 429, "You've hit your weekly limit · resets 5:09pm (UTC)", Ending.LIMIT),
        ("rate_limit", 429, "API Error: Server is temporarily limiting requests (not your usage limit)", Ending.LIMIT),
        ("rate_limit_error", None, "", Ending.LIMIT),
        ("server_error", 529, "API Error: 529 Overloaded. This is a server-side issue", Ending.OVERLOADED),
        ("overloaded_error", None, "", Ending.OVERLOADED),
        ("server_error", None, "Request timed out", Ending.TIMEOUT),
        ("server_error", 500, "API Error: 500 Internal server error.", Ending.SERVER),
        ("server_error", 502, "API Error: 502 Bad Gateway.", Ending.SERVER),
        ("server_error", None, "API Error: Unable to connect to API (ECONNRESET)", Ending.SERVER),
        ("server_error", 502, "502 flowpool got no answer from the provider: refused", Ending.SERVER),
        ("server_error", 502, "502 No account's credential is accepted: work; run: flowpool login work", None),
        ("server_error", 503, "503 No account is enabled: flowpool enable work", None),
        ("authentication_failed", 401, "Failed to authenticate. API Error: 401 Invalid bearer token", None),
        ("authentication_failed", 403, "Failed to authenticate. API Error: 403 Request not allowed", None),
        ("billing_error", 400, "Credit balance is too low", None),
        ("invalid_request", 400, "Prompt is too long", None),
        ("model_not_found", 404, "There's an issue with the selected model", None),
        ("unknown", 400, "API Error: 400 messages: at least one message is required", None),
        ("something_new", 429, "rate limit", None),
        (None, 429, "", None),
        (["rate_limit"], 429, "", None),
    ],
)
def test_which_errors_are_resumed(error: Any, status: int | None, text: str, ending: Ending | None) -> None:
    """Limits, overload, time-outs and server errors; never a login, money, the request's own fault, or what only a person mends."""
    assert read(failed(error, text=text, apiErrorStatus=status)) is ending


@pytest.mark.parametrize(
    ("lines", "ending"),
    [
        ([], None),
        ([record("user", 1, "hi"), record("assistant", 2, "ho")], None),
        ([record("user", 1, "hi"), failed(at=2)], Ending.LIMIT),
        ([failed(at=2), record("user", 1, "hi")], Ending.LIMIT),
        ([failed(at=2), record("user", 3, "go on")], None),
        ([failed(at=2), record("assistant", 3, "it went on by itself")], None),
        ([failed(at=2), record("user", 3, "[Request interrupted by user]")], None),
        ([failed(at=2), record("user", 3, "<command-name>/rate-limit-options</command-name>")], Ending.LIMIT),
        ([failed(at=2), record("user", 3, "<local-command-stdout></local-command-stdout>")], Ending.LIMIT),
        ([failed(at=2), record("user", 3, "a reminder", isMeta=True)], Ending.LIMIT),
        ([failed(at=2), record("system", 3, "turn_duration")], Ending.LIMIT),
        ([failed(at=2), b'{"type":"last-prompt","for":"user"}'], Ending.LIMIT),
        ([failed(at=2), failed("authentication_failed", 3)], None),
        ([failed("authentication_failed", 2), failed("server_error", 3)], Ending.SERVER),
        ([failed(at=2, isSidechain=True)], None),
        (
            [record("user", 1, "hi"), failed(at=2), record("assistant", 3, "of a subagent", isSidechain=True)],
            Ending.LIMIT,
        ),
        ([failed(at=2, isApiErrorMessage="yes")], None),
        ([failed(timestamp=None)], Ending.LIMIT),
        ([failed(timestamp="2026-11-30T12:00:00")], Ending.LIMIT),
        ([b'"assistant"', b'["assistant"]', b'{"assistant"', b'\xff"assistant"', b"[" * 20_000 + b'"user"'], None),
        ([failed(message="a text")], Ending.LIMIT),
        ([failed("server_error", message={"content": "Request timed out"})], Ending.TIMEOUT),
        ([failed("server_error", message={"content": [1, {"text": 2}, {"text": "timed out"}]})], Ending.TIMEOUT),
    ],
)
def test_the_latest_word_on_the_turn_counts(lines: list[bytes], ending: Ending | None) -> None:
    """By its time, for lines come a little out of order; a subagent's end, remarks and commands are no word on it."""
    assert read(*lines) is ending


LINES = st.sampled_from(
    [
        failed(at=3),
        failed("server_error", 5, "Request timed out"),
        failed("authentication_failed", 4),
        record("user", 2, "hi"),
        record("assistant", 6, "ho"),
        b"",
        b"{",
        b'"user"' + b"x" * 300,
    ]
)


@given(
    lines=st.lists(LINES, max_size=8),
    cuts=st.lists(st.integers(0, 3000), max_size=12),
    longest=st.sampled_from([200, 400, 10_000]),
)
def test_it_matters_nothing_in_which_pieces_the_bytes_come(lines: list[bytes], cuts: list[int], longest: int) -> None:
    """However they are cut, also inside a line, the same is found; so it is where a line is too long to be read."""
    data = b"".join(line + b"\n" for line in lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transcript, "LONGEST", longest)
        whole, pieces = Transcript(), Transcript()
        whole.feed(data)
        at = 0
        for cut in [*sorted(cuts), len(data)]:
            pieces.feed(data[at:cut])
            at = max(at, cut)

    assert pieces.turn == whole.turn


def test_half_a_line_says_nothing_yet() -> None:
    """It is kept until its rest comes."""
    found, line = Transcript(), failed() + b"\n"
    for at in range(len(line) - 1):
        found.feed(line[at : at + 1])
        assert found.turn.ending is None
    found.feed(line[-1:])
    assert found.turn.ending is Ending.LIMIT


def test_what_was_before_is_not_read() -> None:
    """A file that is written anew holds old errors, too."""
    found = Transcript(datetime(2026, 11, 30, 12, 0, 10, tzinfo=UTC))
    found.feed(failed(at=9) + b"\n")
    assert found.turn.ending is None
    found.feed(failed(at=11) + b"\n")
    assert found.turn.ending is Ending.LIMIT


def test_a_file_that_was_cut_begins_with_a_new_line() -> None:
    """Half a line from before does not spoil the first one after."""
    found = Transcript()
    found.feed(b'{"type":"assist')
    found.restart()
    found.feed(failed() + b"\n")
    assert found.turn.ending is Ending.LIMIT
