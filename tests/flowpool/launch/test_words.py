"""flowpool/launch/words.py: Claude Code's own command line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpool.launch.words import OPTIONS, Option, Takes, split


@pytest.mark.parametrize(
    ("line", "options", "words"),
    [
        ("", [], []),
        ("hi", [], ["hi"]),
        ("-p hi", ["-p"], ["hi"]),
        ("--model opus hi", ["--model opus"], ["hi"]),
        ("--model=opus hi", ["--model=opus"], ["hi"]),
        ("--append-system-prompt --verbose hi", ["--append-system-prompt --verbose"], ["hi"]),
        ("hi --allowedTools Bash Edit -p", ["--allowedTools Bash Edit", "-p"], ["hi"]),
        ("--allowedTools Bash hi", ["--allowedTools Bash hi"], []),
        ("--debug -p hi", ["--debug", "-p"], ["hi"]),
        ("-r x hi", ["-r x"], ["hi"]),
        ("-p -- --model hi", ["-p"], ["--model", "hi"]),
        ("-p - --model", ["-p", "--model"], ["-"]),
    ],
)
def test_a_line_is_taken_apart_as_claude_code_does(line: str, options: list[str], words: list[str]) -> None:
    """What each option takes with it is not the prompt."""
    found = split(line.split())

    assert found is not None
    assert ([" ".join(option.words) for option in found[0]], found[1]) == (options, words)


@pytest.mark.parametrize("line", ["--teleport", "--new-thing hi", "--new-thing=x hi", "-pc", "-rID", "-x"])
def test_an_option_that_is_not_known_leaves_the_line_unread(line: str) -> None:
    """It may take the next word, or another session."""
    assert split(line.split()) is None


def test_values_are_what_stands_behind() -> None:
    """With an equals sign, too, and of several words all."""
    assert split(["--add-dir", "a", "b", "--model=x=y"]) == (
        [Option("--add-dir", ("a", "b"), ("--add-dir", "a", "b")), Option("--model", ("x=y",), ("--model=x=y",))],
        [],
    )


@given(st.lists(st.sampled_from([*sorted(OPTIONS), "--model=a", "word", "", "-", "--"]), max_size=10))
def test_no_word_is_lost(line: list[str]) -> None:
    """Every word of the line is of an option or is none, once, in order."""
    found = split(line)
    assert found is not None
    options, words = found
    of_options = [word for option in options for word in option.words]
    behind = line.index("--") if "--" in line and "--" not in of_options else None

    assert sorted([*of_options, *words, *([] if behind is None else ["--"])]) == sorted(line)


def test_options_that_need_a_value_take_it_whatever_it_is() -> None:
    """So does Claude Code."""
    for name, takes in OPTIONS.items():
        found = split([name, "-p"])
        assert found is not None
        assert len(found[0]) == (1 if takes in (Takes.ONE, Takes.MANY) else 2)
