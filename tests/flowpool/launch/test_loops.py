"""The mark by which what starts us again is known."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpool.launch.loops import DEEPEST, VARIABLE, Mark, is_endless, marked, read, wrappers

NOW = 1_800_000_000.0
PROGRAM = Path("/opt/claude")


def mark(*, pid: int = 7, ago: float = 1.0, depth: int = 0) -> Mark:
    """A mark that a process made a while ago."""
    return Mark(pid=pid, at=NOW - ago, depth=depth, paths=(str(PROGRAM),))


CASES = [
    ("the same process at once", mark(), {PROGRAM}),
    ("the same process later", mark(ago=31), set()),
    ("a clock that went back", mark(ago=-1), set()),
    ("another process", mark(pid=8), set()),
    ("nobody", None, set()),
]


@pytest.mark.parametrize(("name", "made", "wanted"), CASES)
def test_who_starts_us_again_in_our_place_is_a_wrapper(name: str, made: Mark | None, wanted: set[Path]) -> None:
    """Only a program that took our process, and that at once: a session that starts another one is none."""
    assert wrappers(made, pid=7, now=NOW) == wanted, name


@given(st.text() | st.sampled_from(["[]", "[1, 2, 3]", '["a", 1, 1, []]', "[1, 2, 3, 4]", "[[[", "{}", "null"]))
def test_what_is_no_mark_is_passed_over(text: str) -> None:
    """Whoever wrote it."""
    assert read({VARIABLE: text}) is None


def test_wrappers_of_one_process_add_up() -> None:
    """Each is marked beside those before it, so that the next look passes over all."""
    first = marked({}, PROGRAM)
    second = read(marked(first, Path("/usr/bin/claude")))

    assert second is not None
    assert (second.pid, second.depth, set(second.paths)) == (os.getpid(), 1, {"/opt/claude", "/usr/bin/claude"})


def test_processes_that_start_one_another_come_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrapper that starts us as its child gets so many turns, and each must follow the one before at once."""
    environ: dict[str, str] = {}
    for turn in range(DEEPEST + 1):
        assert not is_endless(read(environ), now=time.time())
        monkeypatch.setattr(os, "getpid", lambda turn=turn: 1000 + turn)
        environ = marked(environ, PROGRAM)

    assert is_endless(read(environ), now=time.time())
    assert not is_endless(read(environ), now=time.time() + 11)
