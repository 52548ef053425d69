"""The parent of a worker hears the pair before the end, and keeps what a worker leaves behind."""

import sys
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credentials import renewer
from credentials.renewer import Handed, Outcome, command, handing, persist, read, run, telling
from tests.credentials.journals import NOON, login
from tests.e2e.harness import ROOT

PAIR = Handed(credential=login(2), spent="0123456789abcdef", whose={"owner": "u-1"})
DONE = Outcome("renewed")


def worker(*lines: str, then: str = "") -> list[str]:
    """A stand-in that says these lines and does something."""
    return [sys.executable, "-c", f"import os, signal, sys\nfor line in {lines!r}: print(line, flush=True)\n{then}"]


def never(handed: Handed) -> Outcome:
    """What must not be called."""
    raise AssertionError(handed)


@given(
    st.text(max_size=9),
    st.text(max_size=99),
    st.none() | st.timedeltas(timedelta(0), timedelta(days=99)),
    st.booleans(),
)
def test_an_outcome_passes_the_pipe(name: str, because: str, wait: timedelta | None, is_known: bool) -> None:
    """On one line."""
    outcome = Outcome(name, because, None if wait is None else NOON + wait, is_known)
    line = telling(outcome)
    assert "\n" not in line
    heard = read(line)
    assert heard == read(line.encode()) == outcome
    assert isinstance(heard, Outcome)
    assert heard.is_known is is_known


def test_a_pair_passes_the_pipe() -> None:
    """With all that a store keeps, and whose it is."""
    line = handing(PAIR)
    assert "\n" not in line
    assert read(line.encode()) == PAIR


@given(
    st.binary(max_size=60)
    | st.sampled_from([b'{"outcome": 1}', b'{"granted": {}, "spent": "x", "whose": {}}', b"null"])
)
def test_what_is_no_line_of_ours_is_none(line: bytes) -> None:
    """A library may print what it likes."""
    assert read(line) is None


@pytest.mark.parametrize("retry_at", ['"soon"', "7", "[]"])
def test_a_time_that_is_none_is_no_line_of_ours(retry_at: str) -> None:
    """It never raises."""
    assert read(f'{{"outcome": "x", "because": "", "retry_at": {retry_at}}}') is None


def test_the_worker_has_the_last_word() -> None:
    """What it kept is not kept again; noise is passed over; an outcome ends the listening."""
    outcome = Outcome("waiting", "429", NOON)
    assert run(worker("noise", handing(PAIR), telling(outcome), "more"), never) == outcome


def test_a_pair_that_was_left_is_kept() -> None:
    """Whether the worker was killed or fell."""
    for then in ("os.kill(os.getpid(), signal.SIGKILL)", "raise SystemExit(3)", ""):
        kept: list[Handed] = []

        def keep(handed: Handed, kept: list[Handed] = kept) -> Outcome:
            kept.append(handed)
            return DONE

        assert run(worker(handing(PAIR), then=then), keep) == DONE
        assert kept == [PAIR]


def test_a_pair_that_was_left_is_kept_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk may be full at first."""
    monkeypatch.setattr(renewer, "PAUSE", 0.001)
    tries: list[Handed] = []

    def keep(handed: Handed) -> Outcome:
        tries.append(handed)
        if len(tries) < 4:
            raise OSError(28, "No space left on device")
        return DONE

    assert run(worker(handing(PAIR)), keep) == DONE
    assert len(tries) == 4


def test_a_worker_that_says_nothing_has_failed() -> None:
    """Its last words are quoted, a secret in them is not, and not all of them."""
    then = "print('x\\n' * 99_999, 'ValueError: sk-ant-ort01-PLANTED-1', file=sys.stderr); raise SystemExit(3)"
    outcome = run(worker(then=then), never)
    assert outcome.name == "failed"
    assert outcome.because.startswith("the command ended early (3): ")
    assert outcome.because.endswith("ValueError: [masked]")
    assert len(outcome.because) < 300

    assert run(worker(then="os.kill(os.getpid(), signal.SIGKILL)"), never).because == "the command ended early (-9)"
    assert run(["/nowhere/flowpool"], never).because == "the command did not start: No such file or directory"


def test_a_worker_is_in_a_session_of_its_own() -> None:
    """So Ctrl-C in the parent's terminal, and the end of its group, do not reach it; nor does it read from there."""
    said = "f'{os.getsid(0) == os.getpid()} {sys.stdin.read()!r}'"
    then = f"import json; print(json.dumps({{'outcome': {said}, 'because': '', 'retry_at': None}}))"
    assert run(worker(then=then), never).name == "True ''"


def test_trying_to_keep_ends() -> None:
    """The pauses double; in between something else may be done; at the end it is said what is lost."""
    now, slept, between = 0.0, list[float](), list[float]()

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        slept.append(seconds)

    def keep() -> Outcome:
        raise OSError(28, "No space left on device")

    outcome = persist(keep, 600, meanwhile=lambda: between.append(now), sleep=sleep, clock=lambda: now)
    assert outcome.name == "failed"
    assert "lost" in outcome.because
    assert slept[:4] == [0.05, 0.1, 0.2, 0.4]
    assert max(slept) == 15
    assert 600 <= now < 615
    assert len(between) == len(slept)


def test_what_lies_in_the_folder_of_the_parent_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy may be started in any project, which may have a package home, or credentials, of its own."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "__init__.py").write_text("raise SystemExit('foreign code ran')\n")
    monkeypatch.chdir(tmp_path)
    environ = {"FLOWPOOL_HOME": str(tmp_path / "mine"), "PYTHONPATH": str(ROOT)}
    assert run(command("a1"), never, environ) == Outcome("gone", "there is no such account")


def test_the_command_of_a_worker() -> None:
    """What it is to mind."""
    assert command("a1")[1:] == ["-P", "-m", "flowpool", "refresh", "--worker", "--account-id", "a1"]
    assert command("a1", is_due_only=True)[-1:] == ["--due"]
    assert command("a1", is_asked_for=True)[-1:] == ["--asked-for"]
