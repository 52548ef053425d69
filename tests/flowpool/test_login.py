"""What `flowpool login` says before and after the vendor's program runs; tests/e2e/test_login.py drives it on a terminal."""

import os
import sys
from pathlib import Path

from home import accounts as book
from tests.flowpool.cli import PLANTED, ROOT, Shell
from tests.flowpool.proxy import listening, reply
from tests.terminal import Terminal


def at_a_terminal(shell: Shell, *arguments: str) -> str:
    """Run `flowpool login ARGUMENTS`, which fails; return all that was on the terminal."""
    environ = {"PATH": os.defpath, "HOME": str(shell.home), "FLOWPOOL_HOME": str(shell.home)}
    environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    with Terminal([sys.executable, "-m", "flowpool", "login", *arguments], environ, ROOT) as terminal:
        shell.shown.append(terminal.end(1))
    return shell.shown[-1]


def test_without_the_program_there_is_how_to_get_it(shell: Shell, tmp_path: Path) -> None:
    """One line, and no folder is left."""
    shell.environ["PATH"] = str(tmp_path / "nowhere")
    err = shell.run("login", "work", code=1).stderr

    assert err.count("\n") == 1
    assert err.startswith("flowpool: there is no `claude` on the PATH; Claude Code alone can log in; install it: npm ")
    assert err.endswith(", then run: flowpool login work\n")
    assert not list(shell.home.glob("login*"))


def test_what_is_wrong_at_home_is_said_before_anybody_logs_in(shell: Shell) -> None:
    """An accounts.toml that cannot be read would lose the login."""
    shell.home.mkdir()
    (shell.home / "accounts.toml").write_text("x")
    assert ":1: not valid TOML" in shell.run("login", "--claude", "/bin/false", code=2).stderr


def test_misuse_is_told(shell: Shell) -> None:
    """Two kinds at once, and a name that cannot be, which is not quoted."""
    assert "choose one" in shell.run("login", "--api-key", "--setup-token", code=2).stderr
    assert "NAME must be" in shell.run("login", PLANTED, code=2).stderr


def test_a_setup_token_needs_a_terminal(shell: Shell) -> None:
    """A pipe has the token already."""
    assert shell.run("login", "work", "--setup-token", code=1).stderr == (
        "flowpool: `claude setup-token` needs a terminal; where you have its token, "
        "run: flowpool add work --kind setup-token\n"
    )


def test_a_login_needs_a_terminal(shell: Shell, tmp_path: Path) -> None:
    """Without one nobody can paste a code, and `claude` would wait for ever: it is not started, whatever the pipe has."""
    program, started = tmp_path / "claude", tmp_path / "started"
    program.write_text(f"#!/bin/sh\n> {started}\n")
    program.chmod(0o700)
    for given in ("", "garbage\n"):
        assert shell.run("login", "work", "--claude", str(program), given=given, code=1).stderr == (
            "flowpool: `claude auth login` needs a terminal; it waits there for a code, or for your browser; "
            f"in one, run: flowpool login work --claude {program}\n"
        )

    assert not started.exists()


def test_a_key_may_come_from_a_pipe(shell: Shell) -> None:
    """It is kept as `add` keeps it, and given again as `add --replace` gives it."""
    run = ("login", "paid", "--api-key", "--no-verify")
    first = shell.run(*run, given="sk-ant-api03-first").stdout
    again = shell.run(*run, given="sk-ant-api03-second").stdout

    assert first == "logged in paid: api-key, anthropic; not checked: its first request will tell\n"
    assert again == first.replace("paid:", "paid again:")
    assert [account.name for account in book.load(shell.home / "accounts.toml")] == ["paid"]


def test_a_refused_key_is_not_kept(shell: Shell) -> None:
    """The way out is this command again."""
    shell.home.mkdir()
    with listening(reply(b"", "401 Unauthorized"), []) as address:
        (shell.home / "config.toml").write_text(f'providers.anthropic.upstream = "http://{address}"\n')
        err = shell.run("login", "paid", "--api-key", given="sk-ant-api03-bad", code=1).stderr

    assert err == (
        "flowpool: anthropic does not accept this API key (401); nothing was saved; make a new one, "
        "then run: flowpool login paid --api-key\n"
    )


def test_what_is_no_key_is_told_with_this_command(shell: Shell) -> None:
    """`add` would refuse the name of an account that is there."""
    run = ("login", "paid", "--api-key", "--no-verify")
    shell.run(*run, given="sk-ant-api03-first")

    assert shell.run(*run, given="sk-ant-oat01-x", code=1).stderr == (
        "flowpool: this is a login token, not for --kind api-key; run: flowpool login paid --api-key\n"
    )


def test_the_program_is_named_again(shell: Shell) -> None:
    """What is copied runs the same program, which need not be on the PATH."""
    shown = at_a_terminal(shell, "work", "--claude", "/bin/false")

    assert shown.endswith("nothing was saved; run: flowpool login work --claude /bin/false\n")


def test_what_cannot_be_read_is_told_without_its_path(shell: Shell, tmp_path: Path) -> None:
    """By then the folder is gone."""
    program = tmp_path / "claude"
    program.write_text('#!/bin/sh\n[ "$2" = --help ] || mkdir "$CLAUDE_CONFIG_DIR/.credentials.json"\n')
    program.chmod(0o700)
    shown = at_a_terminal(shell, "--claude", str(program))

    assert shown.endswith(f"flowpool: what `claude` left: not a plain file; run: flowpool login --claude {program}\n")
