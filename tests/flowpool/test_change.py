"""enable, disable, rename and rank change what they name, all or nothing, and say so in one line."""

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowpool import change
from flowpool.errors import Failure
from home import accounts as book
from home.paths import Home
from routing.words import Account, AccountId, Kind
from tests.flowpool.cli import PLANTED, Shell
from tests.flowpool.proxy import announce, listening, reply

WORK, HOME, THIRD = (
    Account(id=AccountId(f"id{n}"), name=name, provider="anthropic", kind=Kind.SETUP_TOKEN)
    for n, name in enumerate(("work", "home", "third"))
)


def known(shell: Shell) -> book.Accounts:
    """What is in the file."""
    return book.load(shell.home / "accounts.toml")


def begin(shell: Shell, *accounts: Account) -> None:
    """Write the file."""
    shell.home.mkdir(exist_ok=True)
    book.edit(shell.home / "accounts.toml", lambda _: accounts)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(
    st.lists(st.sampled_from(("work", "home", "third", "nobody")), min_size=1, max_size=4), st.sampled_from(("a", "b"))
)
def test_only_what_is_named_changes(shell: Shell, typed: Sequence[str], way: str) -> None:
    """The named ones, and of them the one field; an unknown name and nothing at all."""
    begin(shell, WORK, HOME, THIRD)
    home = Home(config_folder=shell.home, state_folder=shell.home)
    command, field = (change.disable, "enabled") if way == "a" else (change.rank, "rank")
    arguments = list(typed) if way == "a" else [typed[0], "3"]
    named = set(typed if way == "a" else typed[:1])
    try:
        command.main(arguments, standalone_mode=False, obj=home)
    except Failure:
        assert "nobody" in named
        assert known(shell) == (WORK, HOME, THIRD)
        return
    for before, after in zip((WORK, HOME, THIRD), known(shell), strict=True):
        differing = [
            name for name in ("id", "name", "kind", "enabled", "rank") if getattr(before, name) != getattr(after, name)
        ]
        assert differing == ([field] if before.name in named else [])


LINES = [
    (("disable", "work"), "disabled work"),
    (("disable", "work", "home", "work"), "disabled work, home; none is enabled now, so requests are refused"),
    (("enable", "work"), "enabled work"),
    (("rename", "work", "office"), "renamed work to office"),
    (("rename", "work", "work"), "renamed work to work"),
    (("rank", "work", "2"), "ranked work 2"),
    (("rank", "work", "-2"), "ranked work -2"),
    (("rank", "work", "none"), "work has no rank now"),
]


@pytest.mark.parametrize(("arguments", "says"), LINES, ids=[" ".join(case[0]) for case in LINES])
def test_the_outcome_is_one_line(shell: Shell, arguments: tuple[str, ...], says: str) -> None:
    """On stdout, exit 0, nothing on stderr."""
    begin(shell, WORK, HOME)
    done = shell.run(*arguments)

    assert (done.stdout, done.stderr) == (f"{says}\n", "")


FAULTS = [
    (("enable",), 2, "Missing argument 'NAME...'"),
    (("disable", "wrok"), 1, "there is no account wrok; did you mean work?"),
    (("rename", "work"), 2, "Missing argument 'NEW'"),
    (("rename", "work", "home"), 1, "already; to give that another name, run: flowpool rename home OTHER"),
    (("rename", "nobody", "x"), 1, "there is no account nobody"),
    (("rename", "work", "Work"), 2, "NEW must be 1 to 32 of a-z"),
    (("rename", "work", "client"), 2, "NEW must be"),
    (("rename", "work", PLANTED), 2, "NEW must be"),
    (("rename", "work", "sk-short"), 2, "NEW must be"),
    (("rank", "work", "high"), 2, "N must be a whole number"),
    (("rank", "work", "1.5"), 2, "N must be a whole number"),
    (("rank", "work", "1000001"), 2, "N must be a whole number from -1000000 to 1000000, or none"),
    (("rank", "work"), 2, "Missing argument 'N|none'"),
]


@pytest.mark.parametrize(("arguments", "code", "says"), FAULTS, ids=[" ".join(case[0])[:20] for case in FAULTS])
def test_a_fault_changes_nothing(shell: Shell, arguments: tuple[str, ...], code: int, says: str) -> None:
    """What cannot be is 1, what was typed wrong is 2, and the file stays byte for byte."""
    begin(shell, WORK, HOME)
    before = (shell.home / "accounts.toml").read_bytes()

    assert says in shell.run(*arguments, code=code).stderr
    assert (shell.home / "accounts.toml").read_bytes() == before


def test_a_broken_file_is_exit_2_and_stays(shell: Shell) -> None:
    """It is named with its line."""
    shell.home.mkdir()
    (shell.home / "accounts.toml").write_text("version = 1\nx")
    for arguments in (("enable", "work"), ("rename", "work", "x"), ("rank", "work", "1")):
        assert ":2: not valid TOML" in shell.run(*arguments, code=2).stderr


def test_the_running_proxy_is_told(shell: Shell) -> None:
    """A POST with the key and a JSON body, nothing of it in the URL; what it has to say is shown."""
    begin(shell, WORK)
    heard: list[bytes] = []
    with listening(reply(b'{"reloaded": false, "notices": ["a\\u001b[2J line"]}'), heard) as address:
        key = announce(shell.home, address)
        done = shell.run("disable", "work")

    assert done.stdout.startswith("disabled work")
    assert done.stderr == "flowpool: a [2J line\n"
    assert heard[0].startswith(b"POST /_flowpool/reload HTTP/1.1\r\n")
    assert f"\r\nx-flowpool-key: {key}\r\n".encode() in heard[0]
    assert heard[0].endswith(b"\r\n\r\n{}")


@pytest.mark.parametrize("answer", [b"", reply(b"", "404 Not Found"), reply(b"[]"), reply(b"<html>")], ids=range(4))
def test_a_proxy_that_does_not_understand_is_a_word_on_stderr(shell: Shell, answer: bytes) -> None:
    """The change is made all the same: exit 0."""
    begin(shell, WORK)
    with listening(answer, []) as address:
        announce(shell.home, address)
        done = shell.run("disable", "work")

    assert done.stderr.startswith("flowpool: the running proxy may not know yet: ")
    assert done.stderr.count("\n") == 1
    assert known(shell)[0].enabled is False


@pytest.mark.parametrize(
    "command", ["enable", "disable", "rename", "rank", "remove", "lift", "requests", "accounts", "add"]
)
def test_help_tells_a_newcomer_what_it_does(shell: Shell, command: str) -> None:
    """A sentence, and every line fits 80 columns."""
    out = shell.run(command, "--help").stdout

    assert out.startswith(f"Usage: flowpool {command} ")
    assert max(map(len, out.splitlines())) <= 80


def test_the_help_of_rank_says_what_goes_before_it(shell: Shell) -> None:
    """Nearly spent accounts come last whatever their rank."""
    assert "nearly spent" in " ".join(shell.run("rank", "--help").stdout.split())
