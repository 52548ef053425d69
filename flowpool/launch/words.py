"""Claude Code's own command line, taken apart as far as resuming a session needs it.

Fact: docs/facts/claude-code.md, "Its command line".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto


class Takes(Enum):
    """What follows an option as words of their own."""

    NOTHING = auto()
    ONE = auto()
    MAYBE = auto()  # the next word, unless it is an option
    MANY = auto()  # all words up to the next option


OPTIONS: dict[str, Takes] = {
    **dict.fromkeys(
        (
            *(
                "--allow-dangerously-skip-permissions",
                "--ax-screen-reader",
                "--bare",
                "--brief",
                "--chrome",
                "--no-chrome",
            ),
            *("-c", "--continue", "--dangerously-skip-permissions", "--disable-slash-commands"),
            *("--exclude-dynamic-system-prompt-sections", "--fork-session", "-h", "--help", "--ide"),
            *("--include-hook-events", "--include-partial-messages", "--no-session-persistence", "-p", "--print"),
            *("--replay-user-messages", "--safe-mode", "--strict-mcp-config", "--verbose", "-v", "--version"),
            *("--bg", "--background", "--tmux"),
        ),
        Takes.NOTHING,
    ),
    **dict.fromkeys(
        (
            *(
                "--agent",
                "--agents",
                "--append-system-prompt",
                "--append-system-prompt-file",
                "--debug-file",
                "--effort",
            ),
            *("--fallback-model", "--input-format", "--json-schema", "--max-budget-usd", "--max-turns", "--model"),
            *("-n", "--name", "--output-format", "--permission-mode", "--permission-prompt-tool", "--plugin-dir"),
            *("--plugin-url", "--remote-control-session-name-prefix", "--session-id", "--setting-sources"),
            *("--settings", "--system-prompt", "--system-prompt-file"),
        ),
        Takes.ONE,
    ),
    **dict.fromkeys(
        (
            *("-d", "--debug", "--from-pr", "--prompt-suggestions", "--remote-control", "-r", "--resume"),
            *("-w", "--worktree"),
        ),
        Takes.MAYBE,
    ),
    **dict.fromkeys(
        (
            *("--add-dir", "--allowedTools", "--allowed-tools", "--betas", "--disallowedTools", "--disallowed-tools"),
            *("--file", "--mcp-config", "--tools"),
        ),
        Takes.MANY,
    ),
}
END = "--"


@dataclass(frozen=True, slots=True)
class Option:
    """One option as it was typed; values: the words behind it, or what stands behind its equals sign."""

    name: str
    values: tuple[str, ...]
    words: tuple[str, ...]


def split(arguments: Sequence[str]) -> tuple[list[Option], list[str]] | None:
    """Return the options, and the words that are none; None where an option is not known.

    Of such a one nobody here can say whether the word behind it is its value or the prompt, nor what it does to the session.
    """
    options: list[Option] = []
    words: list[str] = []
    at = 0
    while at < len(arguments):
        word = arguments[at]
        at += 1
        if word == END:
            return options, [*words, *arguments[at:]]
        if not _is_option(word):
            words.append(word)
            continue
        name, equals, value = word.partition("=")
        if name not in OPTIONS:
            return None
        if equals:
            options.append(Option(name, (value,), (word,)))
            continue
        count = _count(OPTIONS[name], _behind(arguments[at:]))
        options.append(Option(name, tuple(arguments[at : at + count]), tuple(arguments[at - 1 : at + count])))
        at += count
    return options, words


def _is_option(word: str) -> bool:
    return word.startswith("-") and word != "-"


def _behind(rest: Sequence[str]) -> int:
    """How many words follow before the next option."""
    return next((at for at, word in enumerate(rest) if _is_option(word)), len(rest))


def _count(takes: Takes, behind: int) -> int:
    """How many words an option takes of those behind it; one that needs a value takes the next whatever it is."""
    match takes:
        case Takes.ONE:
            return 1
        case Takes.MAYBE:
            return min(behind, 1)
        case Takes.MANY:
            return max(behind, 1)
        case Takes.NOTHING:
            return 0
