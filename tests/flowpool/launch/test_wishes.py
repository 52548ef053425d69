"""What is put into Claude Code's settings is what `flowpool env` prints, and what is ours is known by sight."""

import pytest

from flowpool.launch.wishes import BASE, HEADERS, Reach, theirs, wishes
from home.checks import Address

LISTEN = Address(host="127.0.0.1", port=3456)
REACH = Reach(base_url="http://127.0.0.1:3456", addresses=(LISTEN,), defaults={"ENABLE_TOOL_SEARCH": "true"}, key="K")


def values(reach: Reach, found: object) -> dict[str, str | None]:
    """What is wished where the person has this."""
    return {wish.path[-1]: wish.value(found) for wish in wishes(reach)}


def test_each_value_minds_the_persons() -> None:
    """The address is ours, a default is theirs where they have one, and our header joins theirs."""
    fresh = values(REACH, None)
    theirs_too = values(REACH, "X-A: 1")

    assert fresh == {
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:3456",
        "ENABLE_TOOL_SEARCH": "true",
        "ANTHROPIC_CUSTOM_HEADERS": "x-flowpool-key: K",
    }
    assert theirs_too["ENABLE_TOOL_SEARCH"] is None
    assert theirs_too["ANTHROPIC_CUSTOM_HEADERS"] == "X-A: 1\nx-flowpool-key: K"
    assert values(REACH, False)["ENABLE_TOOL_SEARCH"] is None


def test_without_a_key_no_header_is_wished() -> None:
    """And the key is in no repr."""
    assert "ANTHROPIC_CUSTOM_HEADERS" not in values(Reach(base_url="x", addresses=()), None)
    assert "K" not in repr(REACH).replace("KEY", "")


@pytest.mark.parametrize(
    ("value", "is_ours"),
    [
        ("http://127.0.0.1:3456", True),
        ("http://127.0.0.1:3456/", True),
        ("http://localhost:3456", True),
        ("http://127.0.0.1:3457", False),
        ("https://gateway.example", False),
        ("http://[::1", False),
        ("", False),
    ],
)
def test_our_address_is_known_by_sight(value: str, is_ours: bool) -> None:
    """However it is written."""
    assert theirs([LISTEN])[BASE](value) == (None if is_ours else value)


@pytest.mark.parametrize(
    ("value", "left"),
    [
        ("x-flowpool-key: K", None),
        ("X-Flowpool-Pin: work\nX-A: 1", "X-A: 1"),
        ("X-A: 1", "X-A: 1"),
        ("X-A: 1\n\nX-B: 2\n", "X-A: 1\n\nX-B: 2\n"),
        ("", ""),
    ],
)
def test_our_headers_are_known_by_their_name(value: str, left: str | None) -> None:
    """Others stay as they are."""
    assert theirs([])[HEADERS](value) == left
