"""What several commands take is the same for all."""

import pytest

from flowpool.arguments import MOST
from tests.flowpool.cli import Shell


@pytest.mark.parametrize("command", ["logs", "requests"])
def test_how_many_and_whether_to_go_on_are_said_alike(shell: Shell, command: str) -> None:
    """From none to many; -f is short for --follow."""
    (shell.home / "logs").mkdir(parents=True)
    (shell.home / "logs" / "flowpool.log").touch()

    shell.run(command, "-n", str(MOST))
    assert "Invalid value for '-n'" in shell.run(command, "-n", "-1", code=2).stderr
    assert "-f, --follow" in shell.run(command, "--help").stdout


def test_a_home_is_made_for_a_command_and_not_for_its_help(shell: Shell) -> None:
    """For us alone."""
    shell.run("accounts", "--help")
    assert not shell.home.exists()
    shell.run("accounts")
    assert shell.home.stat().st_mode & 0o777 == 0o700
