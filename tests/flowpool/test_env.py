"""env prints one line for a shell."""

import pytest

from flowpool.env import reachable
from home.checks import Address
from tests.flowpool.cli import Shell
from tests.flowpool.proxy import announce


def test_without_a_proxy_the_settings_count(shell: Shell) -> None:
    """The address of the settings is printed, and nothing else."""
    answer = shell.run("env")

    assert answer.stdout == "export ANTHROPIC_BASE_URL=http://127.0.0.1:3456\n"
    assert answer.stderr == ""


def test_the_running_proxy_counts_more(shell: Shell) -> None:
    """The real address of a running proxy is printed, whatever the settings say."""
    announce(shell.home, Address(host="::1", port=4567))
    (shell.home / "config.toml").write_text("broken")

    assert shell.run("env").stdout == "export ANTHROPIC_BASE_URL='http://[::1]:4567'\n"


def test_a_port_that_is_not_chosen_yet_cannot_be_printed(shell: Shell) -> None:
    """With port 0 and no proxy env fails, prints nothing on stdout, and says to start it."""
    shell.home.mkdir()
    (shell.home / "config.toml").write_text('listen.claude = "127.0.0.1:0"\n')
    answer = shell.run("env", code=1)

    assert answer.stdout == ""
    assert "flowpool serve" in answer.stderr


@pytest.mark.parametrize(("host", "asked"), [("0.0.0.0", "127.0.0.1"), ("::", "::1"), ("localhost", "localhost")])
def test_an_address_for_all_is_asked_on_loopback(host: str, asked: str) -> None:
    """What listens everywhere is reached on this machine."""
    assert reachable(Address(host=host, port=1)) == Address(host=asked, port=1)
