"""flowpool/launch/watched.py: which launches can be watched, and what resumes them."""

import uuid

import pytest

from flowpool.launch.watched import PROMPT, watched

ID = "0f8fad5b-d9cb-469f-a165-70867728950e"


@pytest.mark.parametrize("line", ["", "hi", "-p hi", "--model opus"])
def test_a_new_session_gets_an_id(line: str) -> None:
    """Otherwise nobody knows which one it is; each launch has its own."""
    first, second = watched(line.split()), watched(line.split())

    assert first is not None
    assert second is not None
    assert first.session != second.session
    assert str(uuid.UUID(first.session)) == first.session
    assert first.arguments == ("--session-id", first.session, *line.split())


@pytest.mark.parametrize(
    "line",
    [
        f"--session-id {ID} hi",
        f"--session-id={ID}",
        f"--resume {ID}",
        f"--resume={ID} hi",
        f"-r {ID}",
        f"hi -p -r {ID}",
    ],
)
def test_an_exact_id_is_watched_as_it_is(line: str) -> None:
    """The arguments stay what they were."""
    found = watched(line.split())

    assert found is not None
    assert (found.session, found.arguments) == (ID, tuple(line.split()))


@pytest.mark.parametrize(
    "line",
    [
        "--resume",
        "-r",
        "-r my-session",
        "--resume=",
        f"--resume {ID.upper()}",
        f"--resume {{{ID}}}",
        f"--resume {ID.replace('-', '')}",
        "--session-id 1",
        "--session-id",
        f"--session-id {ID} --resume {ID}",
        f"--resume {ID} --fork-session",
        "-c",
        "--continue -p hi",
        "-pc hi",
        "--from-pr 3",
        "-p --no-session-persistence hi",
        "-p --input-format stream-json",
        "--worktree",
        "--bg hi",
        "--help",
        "-v",
        "--unheard-of hi",
        "agents",
        "--verbose ultrareview 12",
    ],
)
def test_everything_else_is_ambiguous(line: str) -> None:
    """Nobody knows the session, or it would not be found again."""
    assert watched(line.split()) is None


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("hi", ""),
        ("--model opus --permission-mode plan hi", "--model opus --permission-mode plan"),
        (f"--resume {ID} hi", ""),
        (f"-p --session-id={ID} --allowedTools Bash Edit -- hi", "-p --allowedTools Bash Edit"),
        ("--add-dir a b --debug", "--add-dir a b --debug"),
    ],
)
def test_it_is_resumed_with_its_options_and_without_its_prompt(line: str, kept: str) -> None:
    """Which it has had; a word that looks like an option would be one, so the new prompt stands behind a double dash."""
    found = watched(line.split())

    assert found is not None
    assert found.resuming == (*kept.split(), "--resume", found.session, "--", PROMPT)


@pytest.mark.parametrize(
    ("line", "is_headless", "is_held"),
    [
        ("hi", False, False),
        ("-p hi", True, True),
        ("--print --output-format json hi", True, True),
        ("-p --output-format stream-json --verbose hi", True, False),
        ("-p --output-format=stream-json hi", True, False),
        ("--output-format json hi", False, False),
    ],
)
def test_who_reads_the_output_of_a_headless_run_gets_one_answer(line: str, is_headless: bool, is_held: bool) -> None:
    """Where it is one; a stream of events goes on as it comes."""
    found = watched(line.split())

    assert found is not None
    assert (found.is_headless, found.is_held) == (is_headless, is_held)
