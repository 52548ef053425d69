"""Runs Claude Code, and resumes its session when a limit, an overloaded provider, a time-out or a server error ended its turn.

The pool itself has a request wait for `[wait] max` when an account recovers by then, also one that was resumed; so the pauses are
short. For a recovery that is further away than that a run without a terminal rests, for nobody else would come back to it.
"""

import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from flowpool.launch import resting, tail, terminal
from flowpool.launch.child import Child
from flowpool.launch.signals import Signals
from flowpool.launch.transcript import Ending
from flowpool.launch.watched import Watched, watched

__all__ = ["MOST", "Watched", "run", "watched"]

MOST = 3
"""Times that a session is resumed; then the person, or the exit code, has the last word."""
PAUSE, LONGEST_PAUSE = 2.0, 30.0
"""Seconds before the first time, doubling, and at most."""
FAILED = 1
"""What a headless run ends with when its turn failed."""


def run(
    program: Path,
    watched: Watched,
    environ: Mapping[str, str],
    say: Callable[[str], None],
    recovery: Callable[[], datetime | None] = lambda: None,
) -> int:
    """Run it to its end; return what a shell would show as its exit code.

    say: takes lines for the person. recovery: returns before when nobody may serve, None where that is not known; a headless run that
    met a limit rests until then, or ends where that is too far away. A program that ends well, or is interrupted, is not started again.
    Raises Failure where it cannot be run.
    """
    arguments = watched.arguments
    with Signals() as signals, terminal.as_it_was():
        for resumed in range(MOST):
            code, ending, held = _watch(_line(program, arguments), watched, environ, signals)
            if ending is None or signals.is_interrupted or signals.code is not None:
                _write(held)
                return code if signals.code is None else signals.code
            until = recovery() if ending is Ending.LIMIT and _is_headless(watched) else None
            if until is not None and resting.is_far(until, datetime.now(UTC)):
                say(f"a limit ended the turn; nobody may serve before {until.astimezone():%a %d %b %H:%M}: not resumed")
                _write(held)
                return code
            if not _rested(ending, until, resumed, signals, say):
                return signals.code or FAILED
            arguments = watched.resuming
        signals.child = child = Child(_line(program, arguments), environ)
        code = _to_the_end(child, signals)
        return code if signals.code is None else signals.code


def _line(program: Path, arguments: tuple[str, ...]) -> list[str | Path]:
    return [program, *arguments]


def _rested(ending: Ending, until: datetime | None, resumed: int, signals: Signals, say: Callable[[str], None]) -> bool:
    """Rest before it is resumed; False when a signal says that it is over."""
    count = f"({resumed + 1} of {MOST})"
    if until is not None:
        say(
            f"{ending.value} ended the turn; nobody may serve before {resting.shown(until)}, when it is resumed {count}"
        )
        return resting.rest(until, signals.sleep)
    pause = min(PAUSE * 2**resumed, LONGEST_PAUSE)
    say(f"{ending.value} ended the turn; its session is resumed in {pause:.0f} s {count}")
    return signals.sleep(pause)


def _is_headless(watched: Watched) -> bool:
    return watched.is_headless or not sys.stdout.isatty()


def _watch(
    line: list[str | Path], watched: Watched, environ: Mapping[str, str], signals: Signals
) -> tuple[int, Ending | None, bytes]:
    """Run it once; its code, what ended its turn if that is to be resumed, and its output where that was held."""
    follower = tail.Tail(tail.projects(environ), watched.session, datetime.now(UTC))
    signals.is_interrupted = False
    signals.child = child = Child(line, environ, is_held=watched.is_held)
    if _is_headless(watched):
        code = _to_the_end(child, signals)
        ending = follower.look() if code == FAILED else None
    else:
        code, ending = _until_it_fails(child, signals, follower)
    signals.child = None
    return code, ending, child.held() if watched.is_held else b""


def _write(held: bytes) -> None:
    """Show output that was held: it is the last one's."""
    if held:
        sys.stdout.buffer.write(held)
        sys.stdout.buffer.flush()


def _to_the_end(child: Child, signals: Signals) -> int:
    code = child.watch(lambda: signals.code is not None)
    return child.end() if code is None else code


def _until_it_fails(child: Child, signals: Signals, follower: tail.Tail) -> tuple[int, Ending | None]:
    """Let a person use it; it is ended when its turn failed, for on its own it would only show that."""
    ending: Ending | None = None

    def is_over() -> bool:
        nonlocal ending
        ending = follower.look()
        return ending is not None or signals.code is not None

    code = child.watch(is_over)
    if code is not None:  # the person left
        return code, None
    code = child.end()
    if code == terminal.KILLED:
        terminal.reset()
    return code, ending
