"""Renewing a login by a worker, a process of its own; here is its parent's side, and what passes between the two.

The worker alone talks to the token endpoint. Its first act after an answer is to hand the new pair to its parent, so two
processes hold it before either writes. What a kill -9 costs:

    the parent, at any time             nothing: the worker goes on
    the worker, before it asks          nothing
    the worker, while the answer is on its way, or in the microseconds until it hands the pair over
                                        the pair: this alone loses a login
    the worker, after that              nothing: the parent keeps the pair
"""

import json
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO

from credentials import record
from credentials.credential import Credential
from credentials.redaction import redacted

RENEWED, CURRENT, ADOPTED = "renewed", "current", "adopted"  # the store has a pair that is newer than before
NONE, DEAD, GONE = "none", "dead", "gone"  # nothing to renew with; not any more; no such account
WAITING, FAILED, SYSTEMIC = "waiting", "failed", "systemic"  # it is worth another try, at retry_at at the earliest
PATIENCE = 60.0  # seconds for which a parent tries to keep what its worker left
LEAVE = 30.0  # seconds that a worker may take to end after its last word
PAUSE, LONGEST_PAUSE = 0.05, 15.0  # seconds between two tries to keep a pair; they double
TAIL = 4  # lines of a worker's last words

type Command = Sequence[str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a renewal ended.

    name: one of those above. because: for people. retry_at: when the next try makes sense, if that is known. is_known: it had
    ended so before, and nothing was asked.
    """

    name: str
    because: str = ""
    retry_at: datetime | None = None
    is_known: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """A new pair on its way to the store. spent: fingerprint of the refresh token that it came for. whose: as Granted.whose."""

    credential: Credential
    spent: str
    whose: Mapping[str, str] = field(default_factory=dict)


type Keep = Callable[[Handed], Outcome]


def command(account_id: str, *, is_due_only: bool = False, is_asked_for: bool = False) -> list[str]:
    """Return the command line of a worker. It finds the home as every command does, by its environment.

    -P: what lies in the folder that its parent was started in may bear the name of one of our packages, and is not run.
    is_due_only: renew only what is still due. is_asked_for: by a person, who need not wait for our own backoff.
    """
    options = ["--due"] * is_due_only + ["--asked-for"] * is_asked_for
    return [sys.executable, "-P", "-m", "flowpool", "refresh", "--worker", "--account-id", account_id, *options]


def run(command: Command, keep: Keep, environ: Mapping[str, str] | None = None) -> Outcome:
    """Run a worker to its end, in a session of its own, and keep what it leaves; blocks, so never on an event loop.

    keep: what writes a pair, as home.keeping does; called only when the worker ended without a word on that. Never raises.
    """
    try:
        worker = subprocess.Popen(  # noqa: S603  # our own command
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environ,
            start_new_session=True,
        )
    except OSError as error:
        return Outcome(FAILED, f"the command did not start: {error.strerror or type(error).__name__}")
    words: deque[bytes] = deque(maxlen=TAIL)
    assert worker.stdout  # noqa: S101  # for mypy: they are pipes
    assert worker.stderr  # noqa: S101
    listener = threading.Thread(target=_listen, args=(worker.stderr, words), name="flowpool-worker", daemon=True)
    listener.start()
    with worker.stdout as said:
        outcome, handed = _hear(said)
    with suppress(subprocess.TimeoutExpired):
        worker.wait(LEAVE)
    listener.join(1)
    if outcome is not None:
        return outcome
    if handed is not None:
        pair = handed
        return persist(lambda: keep(pair), PATIENCE)
    return Outcome(FAILED, _last_words(worker.returncode, words))


def persist(
    keep: Callable[[], Outcome],
    patience: float,
    *,
    meanwhile: Callable[[], object] = lambda: None,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Outcome:
    """Try to keep a pair that is nowhere else, again and again, for so many seconds. meanwhile: called before each new try."""
    end, pause = clock() + patience, PAUSE
    while True:
        try:
            return keep()
        except Exception as error:  # noqa: BLE001  # whatever it is, the pair is nowhere else
            if clock() >= end:
                return Outcome(FAILED, f"the new login could not be kept, and is lost: {error}")
        sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)
        meanwhile()


def handing(handed: Handed) -> str:
    """Return the line that hands over a pair, secrets in clear: for the pipe to the parent alone."""
    return json.dumps({"granted": record.dump(handed.credential), "spent": handed.spent, "whose": dict(handed.whose)})


def telling(outcome: Outcome) -> str:
    """Return the line that tells the outcome."""
    retry_at = outcome.retry_at.isoformat() if outcome.retry_at else None
    told = {"outcome": outcome.name, "because": outcome.because, "retry_at": retry_at, "is_known": outcome.is_known}
    return json.dumps(told)


def read(line: bytes | str) -> Outcome | Handed | None:
    """Read either line; None for any other."""
    try:
        match json.loads(line):
            case {"granted": fields, "spent": str(spent), "whose": dict(whose)}:
                said = {str(name): str(value) for name, value in whose.items()}
                return Handed(credential=record.load(fields), spent=spent, whose=said)
            case {"outcome": str(name), "because": str(because), "retry_at": retry_at, **more}:
                until = None if retry_at is None else datetime.fromisoformat(retry_at)
                return Outcome(name, because, until, more.get("is_known") is True)
            case _:
                pass
    except (ValueError, TypeError, RecursionError):
        pass
    return None


def _hear(said: IO[bytes]) -> tuple[Outcome | None, Handed | None]:
    """Listen up to the outcome, or to the end."""
    handed: Handed | None = None
    for line in said:
        match read(line):
            case Outcome() as outcome:
                return outcome, handed
            case Handed() as pair:
                handed = pair
            case None:
                pass
    return None, handed


def _listen(pipe: IO[bytes], words: deque[bytes]) -> None:
    with pipe, suppress(OSError, ValueError):
        words.extend(pipe)


def _last_words(code: int | None, words: deque[bytes]) -> str:
    said = redacted(b" ".join(words).decode("utf-8", "replace"))
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in said).split())[-200:]
    return f"the command ended early ({code})" + (f": {line}" if line else "")
