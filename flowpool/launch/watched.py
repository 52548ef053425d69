"""Which launches of Claude Code can be watched: those whose session is known by its id, and would be found again by it."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from flowpool.launch.words import END, Option, split

PROMPT = "Go on with what was asked last: an error of the service interrupted it."
"""What the session is told when it is resumed: without a prompt it would wait for one. A prompt that was not answered stays in it."""

_RESUME = ("--resume", "-r")
_SESSION = "--session-id"
_PRINT = ("--print", "-p")
_COMMANDS = frozenset(
    {"agents", "ultrareview"}
)  # words that are no prompts; those that need no model are not launched by us
_NOT_FOUND_AGAIN = frozenset(
    {
        *("--continue", "-c", "--fork-session", "--from-pr", "--no-session-persistence"),  # whose id nobody knows
        *("--bg", "--background", "--tmux", "--worktree", "-w"),  # which live elsewhere
        *("--help", "-h", "--version", "-v"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A launch whose session is known. arguments: what it is started with.

    options: what it is resumed with besides its id and a prompt. is_headless: whether it ends by itself. is_held: whether its output is
    one whole answer, so that of several runs the last one's is to be shown.
    """

    session: str
    arguments: tuple[str, ...]
    options: tuple[str, ...]
    is_headless: bool
    is_held: bool

    @property
    def resuming(self) -> tuple[str, ...]:
        """The arguments that resume it."""
        return (*self.options, _RESUME[0], self.session, END, PROMPT)


def watched(arguments: Sequence[str]) -> Watched | None:
    """Return the launch; None for one that cannot be watched."""
    found = split(arguments)
    if found is None:
        return None
    options, words = found
    if words and words[0] in _COMMANDS:
        return None
    if any(option.name in _NOT_FOUND_AGAIN for option in options) or _value(options, "--input-format") not in (
        None,
        "text",
    ):
        return None
    named = [option for option in options if option.name in (*_RESUME, _SESSION)]
    match named:
        case []:
            session, added = str(uuid.uuid4()), True
        case [Option(values=(session,))] if _is_id(session):
            added = False
        case _:
            return None
    is_headless = any(option.name in _PRINT for option in options)
    return Watched(
        session=session,
        arguments=(_SESSION, session, *arguments) if added else tuple(arguments),
        options=tuple(word for option in options if option not in named for word in option.words),
        is_headless=is_headless,
        is_held=is_headless and _value(options, "--output-format") != "stream-json",
    )


def _value(options: Sequence[Option], name: str) -> str | None:
    return next((option.values[-1] for option in options if option.name == name and option.values), None)


def _is_id(text: str) -> bool:
    """Whether it is a session's id exactly as Claude Code writes it; everything else it searches for."""
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False
