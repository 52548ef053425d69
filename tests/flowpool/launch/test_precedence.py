"""What Claude Code's settings put into its environment."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpool.launch import precedence
from flowpool.launch.environment import BASE, Prepared, Way, prepared
from flowpool.launch.precedence import Seen, look, options, ready

URL = "http://127.0.0.1:3456"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, in a world without an organisation."""
    monkeypatch.setattr(precedence, "MANAGED_ELSE", str(tmp_path / "managed"))
    for name in ("client", "project/.claude", "managed/managed-settings.d"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path


def seen(folder: Path, *arguments: str) -> Seen:
    """What is seen there."""
    return look(arguments, {"CLAUDE_CONFIG_DIR": str(folder / "client")}, folder / "project", "linux")


FILES = [
    "client/settings.json",
    "project/.claude/settings.json",
    "project/.claude/settings.local.json",
    "managed/managed-settings.json",
    "managed/managed-settings.d/a.json",
]


def test_each_goes_before_the_ones_before_it(folder: Path) -> None:
    """The person's first, an organisation's last."""
    assert seen(folder) == Seen()
    for at, name in enumerate(FILES):
        (folder / name).write_text(json.dumps({"env": {"A": str(at), f"OF_{at}": "x"}, "apiKeyHelper": f"h{at}"}))
        found = seen(folder)
        assert (found.env["A"], found.where["A"], found.helper) == (str(at), str(folder / name), f"h{at}")
        assert len(found.env) == at + 2
    assert seen(folder).managed == {"A", "OF_3", "OF_4"}


def test_of_options_the_last_counts_alone(folder: Path) -> None:
    """It goes before all files but an organisation's; it is a file or JSON."""
    (folder / FILES[2]).write_text('{"env": {"A": "local", "B": "local"}}')
    (folder / "project" / "mine").write_text('{"env": {"A": "mine"}, "model": "x"}')
    found = seen(folder, "--settings", '{"env": {"B": "gone"}}', "--settings=mine", "--", "--settings", "{")

    assert (found.env, found.given) == ({"A": "mine", "B": "local"}, {"env": {"A": "mine"}, "model": "x"})
    assert seen(folder, "--settings", ' {"env": {"A": "json"}} ').env["A"] == "json"


@pytest.mark.parametrize("text", ["", "{", "[]", "none-there", '{"env": // no\n {}}', "\0", "x" * 5000])
def test_an_option_that_cannot_be_read_is_known(folder: Path, text: str) -> None:
    """As one that cannot."""
    assert seen(folder, "--settings", text).given is None


def test_sources_that_are_left_out_do_not_count(folder: Path) -> None:
    """Claude Code does not read them either."""
    for at, name in enumerate(FILES[:3]):
        (folder / name).write_text(json.dumps({"env": {f"OF_{at}": "x"}}))

    assert set(seen(folder, "--setting-sources", "user, local").env) == {"OF_0", "OF_2"}
    assert seen(folder, "--setting-sources=").env == {}


@pytest.mark.parametrize(
    ("text", "env"),
    [
        ('{"env": null}', {}),
        ('{"env": [1]}', {}),
        ("null", {}),
        ("", {}),
        ('{"env": {"A": "1"}, "env": {"B": "2"}}', {"B": "2"}),
        ('{"env": {"A": 5, "B": true, "C": null, "D": ["x"]}}', {"A": "5", "B": "true"}),
        ('\ufeff{"env": {"A": "ü"}}', {"A": "ü"}),
        ('{"env": {"A": "1",}}', {}),
        ('// x\n{"env": {"A": "1"}}', {}),
        ("[" * 100_000, {}),
    ],
)
def test_a_file_is_read_as_claude_code_reads_it(folder: Path, text: str, env: dict[str, str]) -> None:
    """What it passes over is nothing."""
    (folder / FILES[0]).write_text(text)

    assert seen(folder).env == env


def test_files_that_cannot_be_read_are_nothing(folder: Path) -> None:
    """A folder in their place, a link to nowhere, one to itself."""
    (folder / FILES[0]).mkdir()
    (folder / FILES[1]).symlink_to(folder / "nowhere")
    (folder / FILES[2]).symlink_to(folder / FILES[2])

    assert seen(folder) == Seen()


def test_no_settings_tell_us_what_to_put_into_the_process(folder: Path) -> None:
    """A project that nobody trusts yet could have its own code loaded."""
    noted = json.dumps({"NODE_OPTIONS": ["--require ./evil.js", ""]})
    (folder / FILES[1]).write_text(
        json.dumps({"env": {"FLOWPOOL_CHANGED": noted, "A": "a\0b", "NODE_OPTIONS": "-r x"}})
    )
    found = seen(folder)
    process, _ = ready(found, {"PATH": "/bin"}, lambda variables: prepared(variables, Way(base_url=URL)))

    assert found.env == {"NODE_OPTIONS": "-r x"}
    assert "NODE_OPTIONS" not in process.values


words = st.lists(st.sampled_from(["--settings", "--settings=a", "--settings=", "b", "--", "-p", "", "--settingsx"]))


@given(words)
def test_an_option_is_found_where_it_is(arguments: list[str]) -> None:
    """Never behind `--`, and its words hold its value."""
    found = list(options(arguments, "--settings"))

    for begin, behind, value in found:
        assert arguments[begin:behind] in (["--settings", value], [f"--settings={value}"])
    assert all(one[1] <= two[0] for one, two in pairwise(found))
    assert list(options(["--", *arguments], "--settings")) == []


names = st.sampled_from(
    [BASE, "ANTHROPIC_API_KEY", "ANTHROPIC_CUSTOM_HEADERS", "HTTPS_PROXY", "NO_PROXY", "no_proxy", "X"]
)
people = st.dictionaries(names, st.sampled_from(["", "a", URL, "x-flowpool-pin: b", "127.0.0.1"]))


@given(people, people)
def test_what_claude_code_gets_is_what_a_launch_prepared(environ: dict[str, str], env: dict[str, str]) -> None:
    """Of every variable that matters, once settings and what goes before them are over the environment."""
    way = Way(base_url=URL, headers=(("x-flowpool-key", "k"),))

    def prepare(variables: Any) -> Prepared:
        return prepared(variables, way)

    found, values = ready(Seen(env=env), environ, prepare)
    effective = {**found.values, **env, **values}

    assert effective[BASE] == URL
    assert "x-flowpool-key: k" in effective["ANTHROPIC_CUSTOM_HEADERS"].splitlines()
    assert not effective.get("ANTHROPIC_API_KEY")
    assert "x-flowpool-pin" not in effective["ANTHROPIC_CUSTOM_HEADERS"]
    if effective.get("HTTPS_PROXY"):
        assert "127.0.0.1" in effective["NO_PROXY"].split(",")
        assert "127.0.0.1" in effective["no_proxy"].split(",")
    assert set(values) <= set(env)
    assert all(env[name] != value for name, value in values.items())
    assert found.values.get("X") == environ.get("X")
