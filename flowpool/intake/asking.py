"""Asks a person for a secret, or reads it from a pipe; it is never an argument."""

import sys
from contextlib import suppress

import click

from credentials.errors import BadSecret

LARGEST = 2**20  # bytes of a secret on stdin


def secret(kind: str, name: str | None, mend: str) -> str:
    """Read the secret from a pipe, or ask for it without showing it. mend: what to run once more. Raises BadSecret."""
    if sys.stdin is None and not has_terminal():
        raise BadSecret("there is neither a terminal to ask for the secret nor a pipe to read it from", mend)
    if sys.stdin is None or sys.stdin.isatty():
        whose = f"{kind} of {name}" if name else kind
        answer: str = click.prompt(f"{whose} (not shown)", hide_input=True, err=True)
        return answer
    data = sys.stdin.buffer.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise BadSecret(f"the secret is longer than {LARGEST} bytes", mend)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadSecret("the secret is not text", mend) from None


def has_terminal() -> bool:
    """Tell whether a person can be asked, though stdin may be a pipe."""
    if sys.stdin is not None and sys.stdin.isatty():
        return True
    with suppress(OSError), open("/dev/tty", "rb"):  # noqa: PTH123
        return True
    return False
