"""The command itself: quick, one line for a fault, no secret on the screen."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from flowpool.main import COMMANDS, MEANT
from tests.flowpool.cli import PLANTED, ROOT, Shell


def test_help_names_every_command(shell: Shell) -> None:
    """--help lists all commands and exits 0, also on an old Windows console (X107)."""
    shell.environ["PYTHONIOENCODING"] = "cp1252"
    out = shell.run("--help").stdout

    assert all(f"  {name} " in out for name in COMMANDS)


def test_it_says_its_version(shell: Shell) -> None:
    """--version prints one line."""
    assert shell.run("--version").stdout.startswith("flowpool ")


WRONG = [
    (PLANTED,),
    ("add",),
    ("add", PLANTED),
    ("add", "work", PLANTED),
    ("add", "work", "hunter2", "hunter3", "--kind", "api-key"),
    ("add", "--kind", PLANTED, "work"),
    ("add", "work", f"--token={PLANTED}"),
    ("add", "work", "--provider", PLANTED),
    ("add", "client", "--kind", "api-key"),
    ("add", "Work", "--kind", "api-key"),
    ("add", "sk-short", "--kind", "api-key"),
    ("add", "work"),
    ("status", "--jsno"),
]


@pytest.mark.parametrize("arguments", WRONG, ids=range(len(WRONG)))
def test_wrong_usage_exits_2_and_echoes_no_secret(shell: Shell, arguments: tuple[str, ...]) -> None:
    """Whatever is typed in the wrong place, the exit code is 2 and what may be a secret is not shown."""
    err = shell.run(*arguments, given=PLANTED, code=2).stderr

    assert "Error: " in err
    assert "hunter" not in err


MISUSED = {  # what is typed, and the usage that is shown
    ("pin", "--session"): "flowpool pin [OPTIONS]",
    ("logs", "-n"): "flowpool logs [OPTIONS]",
    ("accounts", "export", "--passphrase-file"): "flowpool accounts export [OPTIONS]",
    ("why",): "flowpool why [OPTIONS] ID|last",
    ("credentials", "move"): "flowpool credentials move [OPTIONS]",
    ("--wrong",): "flowpool [OPTIONS] COMMAND",
}


@pytest.mark.parametrize("arguments", MISUSED)
def test_wrong_usage_shows_the_right_one(shell: Shell, arguments: tuple[str, ...]) -> None:
    """Of the command that was meant, with where there is more; also where an option's value is missing."""
    usage, more, *_ = shell.run(*arguments, code=2).stderr.splitlines()

    assert usage.startswith(f"Usage: {MISUSED[arguments]}")
    assert more == f"Try '{MISUSED[arguments].partition(' [')[0]} --help' for help."


@pytest.mark.parametrize(
    ("extra", "says"),
    [
        (("hunter2",), "One argument too many (not shown: it may be a secret)"),
        (("hunter2", "hun)ter"), "Too many arguments (not shown: they may be secrets)"),
    ],
    ids=range(2),
)
def test_what_is_too_much_is_told_and_not_shown(shell: Shell, extra: tuple[str, ...], says: str) -> None:
    """A line of our own, since nobody would know what (hidden) means."""
    assert shell.run("status", *extra, code=2).stderr.splitlines()[-1] == f"Error: {says}"


UNKNOWN = [
    ("remvoe", "there is no command remvoe; did you mean remove?"),
    ("Status", "there is no command Status; did you mean status?"),
    ("list", "there is no command list; did you mean accounts?"),
    ("ls", "there is no command ls; did you mean accounts?"),
    ("delete", "there is no command delete; did you mean remove?"),
    ("logni", "there is no command logni; did you mean login?"),
    ("zz", f"there is no command zz; there are: {', '.join(COMMANDS)}"),
    ("\x1b[2J", f"there is no command (hidden); there are: {', '.join(COMMANDS)}"),
]


@pytest.mark.parametrize(("typed", "says"), UNKNOWN, ids=[repr(typed) for typed, _ in UNKNOWN])
def test_an_unknown_command_is_answered_with_the_nearest(shell: Shell, typed: str, says: str) -> None:
    """With what was likely meant, or else with all there are."""
    assert shell.run(typed, code=2).stderr.splitlines()[-1] == f"Error: {says}"


def test_what_was_meant_exists() -> None:
    """The table names commands, and only words that are none."""
    assert set(MEANT.values()) <= set(COMMANDS)
    assert not set(MEANT) & set(COMMANDS)


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in ("mitmdump", "mitmweb")])
def test_help_is_short_and_whole(shell: Shell, command: str) -> None:
    """Each command's help fits on a screen, and its line in the list is not cut off."""
    assert len(shell.run(command, "--help").stdout.splitlines()) <= 36
    (line,) = [line for line in shell.run("--help").stdout.splitlines() if line.startswith(f"  {command} ")]
    assert not line.endswith("...")


@pytest.mark.parametrize(
    "command", [("env",), ("status",), ("add", "work", "--kind", "api-key"), ("serve",)], ids=lambda c: c[0]
)
def test_wrong_settings_exit_2_with_a_line_each(shell: Shell, command: tuple[str, ...]) -> None:
    """Every command that reads the settings says all their faults and ends with 2."""
    shell.home.mkdir()
    (shell.home / "config.toml").write_text("wait.max = -1\nroutng.x = 1\n")
    err = shell.run(*command, given=PLANTED, code=2).stderr

    assert [line.split(": ")[:3] for line in err.splitlines()] == [
        ["flowpool", f"{shell.home}/config.toml:1", "wait.max"],
        ["flowpool", f"{shell.home}/config.toml:2", "routng"],
    ]


def test_an_expected_fault_is_one_line_and_v_shows_the_trace(shell: Shell) -> None:
    """A fault is one line on stderr with exit 1; -v puts the trace before it."""
    shell.add("work")
    short = shell.run("add", "work", "--kind", "api-key", given=PLANTED, code=1).stderr
    long = shell.run("-v", "add", "work", "--kind", "api-key", given=PLANTED, code=1).stderr

    assert short.count("\n") == 1
    assert short.startswith("flowpool: there is an account work already; to give it a new secret, run: ")
    assert "Traceback" in long
    assert long.endswith(short)


HOMELESS = [
    ("add", "work", "--kind", "setup-token"),
    ("serve",),
    ("mitmdump",),
    ("enable", "work"),
    ("rank", "work", "1"),
]
HOMELESS += [("remove", "work", "--yes"), ("lift", "work"), ("logs",)]
HOMELESS += [(name,) for name in ("accounts", "status", "env", "requests")]


@pytest.mark.parametrize("command", HOMELESS, ids=lambda command: command[0])
def test_a_home_that_cannot_be_made_is_the_same_for_every_command(shell: Shell, command: tuple[str, ...]) -> None:
    """One line with what to look at, and exit 2; --help works all the same."""
    shell.home.touch()
    homes = [(shell.home, "File exists", str(shell.home)), (Path("/dev/null/x"), "Not a directory", "/dev/null")]
    if sys.platform == "linux":
        homes.append((Path("/proc/x"), "No such file or directory", "/proc"))
    for home, why, look in homes:
        where = Shell(home=home)
        assert where.run(*command, given=PLANTED, code=2).stderr == (
            f"flowpool: {home}: this folder cannot be made: {why}; set FLOWPOOL_HOME to another, or run: ls -ld '{look}'\n"
        )
    if command != ("mitmdump",):  # its help is the program's own
        shell.run(command[0], "--help")


def test_what_the_system_refuses_is_one_line(shell: Shell) -> None:
    """A folder in a file's place is said in one line, exit 1."""
    (shell.home / "logs" / "flowpool.log").mkdir(parents=True)
    err = shell.run("logs", code=1).stderr

    assert (
        err
        == f"flowpool: {shell.home}/logs/flowpool.log: Is a directory; run: ls -ld '{shell.home}/logs/flowpool.log'\n"
    )


def test_status_imports_nothing_heavy() -> None:
    """Listing commands and asking the running proxy load neither mitmproxy nor other slow libraries."""
    code = "import sys, flowpool.main, flowpool.status; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    heavy = {
        "mitmproxy",
        "aiohttp",
        "asyncio",
        "msgspec",
        "sqlalchemy",
        "keyring",
        "rich",
        "http.client",
        "ssl",
        "platformdirs",
        "home.accounts",
    }

    assert not heavy & set(loaded)
    assert "addons" not in loaded


def test_a_reader_that_has_enough_ends_it_quietly(tmp_path: Path) -> None:
    """As `flowpool doctor | head -1` does."""
    program = "import os, sys; r, w = os.pipe(); os.dup2(w, 1); os.close(r); os.close(w); from flowpool.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "accounts"],
        env={"PATH": os.defpath, "HOME": str(tmp_path), "FLOWPOOL_HOME": str(tmp_path)},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, b"")
