"""flowpool/launch/resuming.py: a session goes on after a limit, at most three times, and never against a person's will."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from flowpool.launch.watched import PROMPT
from tests.flowpool.launch.claude import Claude
from tests.terminal import CTRL_C, Terminal

LIMIT = {"error": "rate_limit", "code": 1}
FINE = {"says": "fine"}


@pytest.fixture
def claude(tmp_path: Path) -> Claude:
    """The stand-in."""
    return Claude(tmp_path / "claude")


def sessions(claude: Claude) -> list[str]:
    """Whose session each run was of."""
    return [
        line[next(at for at, word in enumerate(line) if word in ("--session-id", "--resume")) + 1]
        for line in claude.runs
    ]


def test_a_headless_run_that_met_a_limit_is_resumed(claude: Claude) -> None:
    """In the same session, with its options and without its prompt; who reads its output gets the last answer alone."""
    claude.plans(LIMIT, FINE)
    done = claude.run("-p", "--model", "opus", "say hi")

    assert (done.returncode, done.stdout) == (0, "fine\n")
    assert "flowpool: a limit ended the turn; its session is resumed in 0 s (1 of 3)" in done.stderr
    (session, again) = sessions(claude)
    assert session == again
    assert claude.runs == [
        ["--session-id", session, "-p", "--model", "opus", "say hi"],
        ["-p", "--model", "opus", "--resume", session, "--", PROMPT],
    ]


def test_it_is_resumed_three_times_at_most(claude: Claude) -> None:
    """With pauses that double up to their bound; then its own exit code stands."""
    claude.plans(LIMIT | {"says": "refused"})
    done = claude.run("-p", "hi", pause=0.01, longest=0.02)

    assert (done.returncode, done.stdout) == (1, "refused\n")
    assert len(claude.runs) == 4
    assert len(set(sessions(claude))) == 1
    assert re.findall(r"\((\d) of 3\)", done.stderr) == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("plan", "code"),
    [
        ({}, 0),
        ({"code": 3}, 3),
        ({"code": 1}, 1),
        ({"error": "rate_limit"}, 0),
        ({"error": "rate_limit", "code": 130}, 130),
        ({"error": "rate_limit", "signal": signal.SIGKILL}, 137),
        ({"error": "authentication_failed", "code": 1}, 1),
        ({"error": "billing_error", "code": 1}, 1),
    ],
)
def test_other_ends_are_the_persons_business(claude: Claude, plan: dict[str, int], code: int) -> None:
    """What ended well, was ended, or would fail again is not started again; its code is what a shell would show."""
    claude.plans(plan)
    done = claude.run("-p", "hi")

    assert (done.returncode, done.stdout) == (code, "run 1\n")
    assert len(claude.runs) == 1


def test_events_go_on_as_they_come(claude: Claude) -> None:
    """Of a stream of events nothing is kept back."""
    claude.plans(LIMIT | {"says": "one"}, {"says": "two"})

    assert claude.run("-p", "--output-format", "stream-json", "hi").stdout == "one\ntwo\n"


def test_a_session_on_a_terminal_is_ended_and_resumed(claude: Claude) -> None:
    """It would stand at its limit for ever; the person goes on in the same session, and leaves it when they like."""
    claude.plans({"error": "rate_limit", "hangs": True}, {"says": "ready", "stays": True, "code": 7})
    with Terminal(claude.watcher("hi"), claude.environ, claude.folder) as terminal:
        terminal.until("a limit ended the turn")
        terminal.until("ready")
        terminal.type("leave\n")
        terminal.end(7)

    assert len(claude.runs) == 2
    assert len(set(sessions(claude))) == 1


def test_after_the_last_time_the_session_is_left_to_the_person(claude: Claude) -> None:
    """It stands at its error, and nobody ends it."""
    claude.plans(
        *[{"error": "server_error", "hangs": True}] * 3, {"error": "server_error", "says": "ready", "stays": True}
    )
    with Terminal(claude.watcher("hi"), claude.environ, claude.folder) as terminal:
        for number in "123":
            terminal.until(f"a server error ended the turn; its session is resumed in 0 s ({number} of 3)")
        terminal.until("ready")
        terminal.type("leave\n")
        terminal.end(0)

    assert len(claude.runs) == 4


def test_a_session_that_does_not_end_is_killed(claude: Claude) -> None:
    """And the terminal is told to forget what only the session could have taken back."""
    claude.plans({"error": "overloaded", "hangs": True, "deaf": True}, FINE)
    with Terminal(claude.watcher("hi", parting=0.2), claude.environ, claude.folder) as terminal:
        terminal.until("\x1b[?2004l")
        terminal.until("fine")
        terminal.end(0)


def test_ctrl_c_is_the_sessions(claude: Claude) -> None:
    """It ends by it, with the code that a shell shows, and is not resumed whatever ended its turn."""
    claude.plans({"error": "rate_limit", "hangs": True})
    with Terminal(
        claude.watcher("-p", "--output-format", "stream-json", "hi"), claude.environ, claude.folder
    ) as terminal:
        terminal.until("run 1")
        terminal.type(CTRL_C)
        terminal.end(130)

    assert len(claude.runs) == 1


def test_ctrl_c_in_the_pause_ends_it(claude: Claude) -> None:
    """The person does not want it to go on."""
    claude.plans(LIMIT)
    with Terminal(claude.watcher("-p", "hi", pause=60, longest=60), claude.environ, claude.folder) as terminal:
        terminal.until("resumed in 60 s")
        terminal.type(CTRL_C)
        terminal.end(130)

    assert len(claude.runs) == 1


@pytest.mark.parametrize(
    ("number", "is_deaf"), [(signal.SIGTERM, False), (signal.SIGTERM, True), (signal.SIGHUP, False)]
)
def test_a_signal_to_end_ends_both(claude: Claude, number: signal.Signals, is_deaf: bool) -> None:
    """The session first, be it deaf to it; nothing is left, nothing is started again."""
    claude.plans({"error": "rate_limit", "hangs": True, "deaf": is_deaf})
    line = claude.watcher("-p", "--output-format", "stream-json", "hi", parting=0.2)
    with subprocess.Popen(line, env=claude.environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as watcher:
        assert watcher.stdout is not None
        assert watcher.stdout.readline() == b"run 1\n"
        watcher.send_signal(number)
        assert watcher.stdout.read() == b""  # the pipe's last writer, the session, is gone
        assert watcher.wait(60) == 128 + number

    assert len(claude.runs) == 1


def test_a_session_that_stops_itself_gives_the_terminal_back(claude: Claude) -> None:
    """As Ctrl-Z does in it: who watches stops too, so that the shell goes on; what wakes them wakes both."""
    claude.plans({"signal": signal.SIGSTOP, "says": "stops", "code": 5})
    line = claude.watcher("-p", "--output-format", "stream-json", "hi")
    with subprocess.Popen(line, env=claude.environ, stdout=subprocess.PIPE, process_group=0) as watcher:
        assert os.WIFSTOPPED(os.waitpid(watcher.pid, os.WUNTRACED)[1])
        os.killpg(watcher.pid, signal.SIGCONT)
        assert watcher.wait(60) == 5


def test_a_program_that_cannot_be_run_is_said(claude: Claude) -> None:
    """Without a trace of ours that would hide it."""
    claude.program.chmod(0o600)
    done = claude.run("-p", "hi")

    assert done.returncode == 1
    assert f"{claude.program} cannot be run: Permission denied" in done.stderr


# When the pool knows until when nobody may serve


def test_a_run_without_a_terminal_rests_until_somebody_may_serve(claude: Claude) -> None:
    """Instead of spending its three tries before that; one line says until when."""
    claude.plans(LIMIT, FINE)
    begun = time.time()
    done = claude.run("-p", "hi", pause=60, recovers=1.0)

    assert (done.returncode, done.stdout) == (0, "fine\n")
    assert time.time() - begun > 1
    (said,) = [line for line in done.stderr.splitlines() if "nobody" in line]
    assert re.fullmatch(
        r"flowpool: a limit ended the turn; nobody may serve before \w+ \d\d:\d\d, when it is resumed \(1 of 3\)", said
    )


def test_it_rests_for_a_limit_alone_and_three_times_at_most(claude: Claude) -> None:
    """What the pool's accounts have left is nothing to an overloaded provider."""
    claude.plans({"error": "overloaded", "code": 1}, LIMIT)
    done = claude.run("-p", "hi", recovers=0.05)

    assert done.returncode == 1
    assert len(claude.runs) == 4
    assert re.findall(r"(resumed in 0 s|nobody may serve)", done.stderr) == [
        "resumed in 0 s",
        *["nobody may serve"] * 2,
    ]


def test_for_what_is_far_nobody_waits(claude: Claude) -> None:
    """It ends as it would without us, with the answer that it had, and says why."""
    claude.plans(LIMIT | {"says": "refused"})
    done = claude.run("-p", "hi", recovers=7 * 3600)

    assert (done.returncode, done.stdout) == (1, "refused\n")
    assert len(claude.runs) == 1
    assert done.stderr.count(": not resumed\n") == 1


def test_ctrl_c_ends_the_rest(claude: Claude) -> None:
    """However long it is."""
    claude.plans(LIMIT)
    with Terminal(claude.watcher("-p", "hi", recovers=3600), claude.environ, claude.folder) as terminal:
        terminal.until("when it is resumed (1 of 3)")
        terminal.type(CTRL_C)
        terminal.end(130)

    assert len(claude.runs) == 1


def test_a_person_at_a_terminal_is_not_kept_waiting(claude: Claude) -> None:
    """They see the limit, and decide."""
    claude.plans({"error": "rate_limit", "hangs": True}, {"says": "ready", "stays": True})
    with Terminal(claude.watcher("hi", recovers=3600), claude.environ, claude.folder) as terminal:
        terminal.until("its session is resumed in 0 s (1 of 3)")
        terminal.until("ready")
        terminal.type("leave\n")
        terminal.end(0)
