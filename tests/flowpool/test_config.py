"""config says where the settings are, whether they are right, and what they come to."""

import json
from pathlib import Path

import pytest

from flowpool.config import places
from home import running, template
from home.checks import Address
from home.running import Running
from home.schema import SETTINGS
from tests.flowpool.cli import PLANTED, Shell
from tests.flowpool.proxy import announce


def put(shell: Shell, text: str) -> Path:
    """Write the person's config.toml."""
    shell.home.mkdir(exist_ok=True)
    path = shell.home / "config.toml"
    path.write_text(text)
    return path


def test_alone_it_shows_the_path(shell: Shell) -> None:
    """So that an editor that is given it opens every setting: a missing one is made, one that is there stays."""
    assert shell.run("config").stdout == f"{shell.home}/config.toml\n"
    assert (shell.home / "config.toml").read_text() == template.render()
    path = put(shell, "[wrong\n")
    assert shell.run("config").stdout == f"{path}\n"
    assert path.read_text() == "[wrong\n"


def test_a_missing_file_is_right(shell: Shell) -> None:
    """The defaults hold; it is not made."""
    assert shell.run("config", "check").stdout == (
        f"{shell.home}/config.toml is not there: the defaults hold; no proxy runs\n"
    )
    assert shell.run("config", "show").stdout.startswith(f"{shell.home}/config.toml: all is as it is by default")
    assert not shell.home.exists()


def test_all_that_is_wrong_is_told_at_once(shell: Shell) -> None:
    """Each with its line; what may be a secret is not quoted."""
    path = put(shell, f'[listen]\nclaud = "127.0.0.1:1"\n\n[wait]\nmax = "{PLANTED}"\n\n[nothing]\n')
    err = shell.run("config", "check", code=2).stderr

    assert err.splitlines() == [
        f"flowpool: {path}:2: listen.claud: is not a setting; did you mean listen.claude?",
        f"flowpool: {path}:5: wait.max: must be seconds, from 0 to a year: a number without quotes and without a unit",
        f"flowpool: {path}:7: nothing: is not a setting; did you mean routing?",
    ]
    assert shell.run("config", "show", code=2).stderr == err
    path.unlink()


def test_another_file_is_checked_like_it(shell: Shell, tmp_path: Path) -> None:
    """Before it takes the place of the one that is there; no word on the proxy then."""
    other = tmp_path / "other.toml"
    assert shell.run("config", "check", str(other), code=2).stderr == f"flowpool: {other}: there is no such file\n"
    other.write_text("wait.max = 1\n")
    assert shell.run("config", "check", str(other)).stdout == f"{other}: all is well\n"
    other.write_text("wait.max = -1\n")
    assert f"{other}:1: wait.max" in shell.run("config", "check", str(other), code=2).stderr
    assert "ls -ld" in shell.run("config", "check", str(tmp_path), code=2).stderr


def test_authorities_that_are_none_are_wrong(shell: Shell, tmp_path: Path) -> None:
    """A proxy would not start with them."""
    put(shell, f'outbound.ca_bundle = "{tmp_path / "gone.pem"}"\n')
    assert "gone.pem cannot be read" in shell.run("config", "check", code=2).stderr


def test_whether_the_proxy_goes_by_it_is_told(shell: Shell) -> None:
    """It took up one content; what was changed since waits for a restart."""
    path = put(shell, "wait.max = 1\n")
    announce(shell.home, Address(host="127.0.0.1", port=1))
    found = running.read(shell.home / "running.json")
    assert found
    taken = Running(pid=found.pid, listen=found.listen, started=found.started, config=running.digest(path))
    running.write(shell.home / "running.json", taken)

    assert shell.run("config", "check").stdout == (
        f"{path}: all is well; the running proxy (pid {found.pid}) goes by it\n"
    )
    put(shell, "wait.max = 2\n")
    assert shell.run("config", "check", str(path)).stdout == (
        f"{path}: all is well; the running proxy (pid {found.pid}) has not taken it up yet; run: flowpool restart\n"
    )


def test_what_differs_is_shown_with_its_place(shell: Shell) -> None:
    """However it is written; what is set to its default does not differ."""
    path = put(
        shell,
        'listen.claude = "127.0.0.1:4000"\nwait = {max = 10}\n\n[retry]\n# more\nconnect = [\n  1,\n]\nbudget_s = 10\n'
        'log.bodies = "/a \\"b\\""\n'.replace("log.bodies", "\n[log]\nbodies"),
    )
    shown = shell.run("config", "show").stdout.splitlines()

    assert [line.split("  # ") for line in shown] == [
        ['listen.claude = "127.0.0.1:4000"', f"{path}:1"],
        ["wait.max = 10                   ", f"{path}:2"],
        ["retry.connect = [1]             ", f"{path}:6"],
        ['log.bodies = "/a \\"b\\""         ', f"{path}:12"],
    ]


def test_all_are_shown_where_they_are_wanted(shell: Shell) -> None:
    """Every setting once, with the file or the default as its source."""
    path = put(shell, "[wait]\nmax = 10\n")
    lines = shell.run("config", "show", "--all").stdout.splitlines()
    document = json.loads(shell.run("config", "show", "--all", "--json").stdout)

    assert [line.partition(" = ")[0] for line in lines] == list(SETTINGS) == list(document)
    assert sum(line.endswith("# default") for line in lines) == len(SETTINGS) - 1
    assert document["wait.max"] == {"value": 10.0, "file": str(path), "line": 2}
    assert document["listen.claude"] == {"value": "127.0.0.1:3456", "file": None, "line": None}
    assert document["listen.forward"]["value"] == ""
    assert document["retry.connect"]["value"] == [0.25, 1.0]
    assert json.loads(shell.run("config", "show", "--json").stdout) == {"wait.max": document["wait.max"]}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("[wait]\n[listen]\nclaude = 'x'\n", {"listen.claude": 3}),
        (
            "providers.anthropic = {upstream = 'u', token_url = 't'}\n",
            dict.fromkeys(ANTHROPIC := ("providers.anthropic.upstream", "providers.anthropic.token_url"), 1),
        ),
        ("[providers]\n[providers.anthropic]\n\ntoken_url = 't'\n", {ANTHROPIC[1]: 4}),
    ],
)
def test_places_are_found_however_they_are_written(text: str, found: dict[str, int]) -> None:
    """Dotted, in a table, or inside a line."""
    assert places(text.encode()) == found
