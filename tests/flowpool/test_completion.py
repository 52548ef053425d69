"""A shell completes commands, options and names of accounts."""

import shutil
import subprocess

import click
import pytest

from flowpool.main import COMMANDS, flowpool
from tests.flowpool.cli import Shell


@pytest.mark.parametrize("shell_name", ["bash", "zsh", "fish"])
def test_the_script_says_where_it_goes(shell: Shell, shell_name: str) -> None:
    """Its first line is a comment, so that all of it can be evaluated; the shell itself finds no fault in it."""
    out = shell.run("completion", shell_name).stdout

    assert out.startswith("# In ~/")
    assert f"flowpool completion {shell_name}" in out.splitlines()[0]
    assert "_FLOWPOOL_COMPLETE=" in out
    if path := shutil.which(shell_name):
        assert subprocess.run([path, "-n"], input=out, text=True, timeout=30, check=False).returncode == 0


def test_another_shell_is_told_which_there_are(shell: Shell) -> None:
    """Click's own words."""
    assert "'bash', 'zsh', 'fish'" in shell.run("completion", "tcsh", code=2).stderr


def completed(shell: Shell, words: str) -> list[str]:
    """What bash is offered for the last of these words."""
    typed = words.split(" ")
    shell.environ |= {
        "_FLOWPOOL_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(typed) - 1),
    }
    out = shell.run().stdout
    for name in ("_FLOWPOOL_COMPLETE", "COMP_WORDS", "COMP_CWORD"):
        del shell.environ[name]
    return [line.partition(",")[2] for line in out.splitlines()]


def test_it_completes(shell: Shell) -> None:
    """The names of accounts, too."""
    for name in ("work", "wide", "home"):
        shell.add(name)

    assert completed(shell, "flowpool serv") == ["serve", "service"]
    assert completed(shell, "flowpool service un") == ["uninstall"]
    assert completed(shell, "flowpool config show --a") == ["--all"]
    assert completed(shell, "flowpool test w") == ["work", "wide"]
    assert completed(shell, "flowpool pin h") == ["home"]
    assert completed(shell, "flowpool completion z") == ["zsh"]


def test_every_name_of_an_account_is_completed() -> None:
    """Wherever a command takes one that is there already."""
    shell = flowpool
    assert isinstance(shell, click.Group)
    context = click.Context(shell)
    without = {
        name
        for name in COMMANDS
        for parameter in getattr(shell.get_command(context, name), "params", ())
        if isinstance(parameter, click.Argument) and "NAME" in (parameter.metavar or "")
        if getattr(parameter, "_custom_shell_complete", None) is None
    }

    assert without <= {"add"}  # whose name is new
