"""How a launch goes before Claude Code's settings."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from flowpool.errors import Failure
from flowpool.launch.environment import BASE, HEADERS
from flowpool.launch.overruling import LASTS, forgotten, overruled, told
from flowpool.launch.precedence import Seen
from home.paths import Home

URL = "http://127.0.0.1:3456"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """One that is not made yet."""
    return Home.find({"FLOWPOOL_HOME": str(tmp_path / "home")})


def test_without_a_conflict_nothing_is_passed(home: Home) -> None:
    """The arguments are the person's, also settings that cannot be read."""
    assert overruled(home, Seen(), {}, ["-p", "hi"]) == ("-p", "hi")
    assert overruled(home, Seen(given=None, helper="x"), {}, ["--settings", "x"]) == ("--settings", "x")


def test_what_anybody_may_see_stands_in_the_command_line(home: Home) -> None:
    """Nothing is written then, also where nothing can be."""
    values = {BASE: URL, "ANTHROPIC_API_KEY": ""}

    assert overruled(home, Seen(), values, ["-p"]) == ("--settings", json.dumps({"env": values}), "-p")
    assert not home.state_folder.exists()


@pytest.mark.parametrize("platform", ["linux", "win32"])
@pytest.mark.parametrize(
    "values", [{HEADERS: "x-flowpool-key: k"}, {"HTTPS_PROXY": "http://flowpool:k@x:1"}, {BASE: "http://a:k@gateway"}]
)
def test_what_may_be_a_secret_stands_in_a_file_of_ours(home: Home, values: dict[str, str], platform: str) -> None:
    """Only the person can read it; the same launch again makes no second one."""
    for _ in range(2):
        option, path, *rest = overruled(home, Seen(), values, ["-p"], platform=platform)
        assert (option, rest) == ("--settings", ["-p"])
        assert json.loads(Path(path).read_text()) == {"env": values}
        assert Path(path).stat().st_mode & 0o777 == 0o600
        assert list(home.state_folder.iterdir()) == [Path(path)]


def test_on_windows_no_json_stands_in_a_command_line(home: Home) -> None:
    """A `claude.cmd` would be given it in pieces."""
    assert overruled(home, Seen(), {BASE: URL}, [], platform="win32")[1].endswith(".json")


def test_the_persons_own_settings_keep_the_rest(home: Home) -> None:
    """All of their options make way for one, whose words are in a file, for they may be secret."""
    given = {"model": "x", "env": {"A": "1", BASE: "https://gateway"}, "apiKeyHelper": "h"}
    arguments = ["-p", "--settings", "old", "hi", "--settings=new", "--", "--settings"]
    option, path, *rest = overruled(home, Seen(given=given, helper="h"), {BASE: URL}, arguments, asks_helper=False)

    assert (option, rest) == ("--settings", ["-p", "hi", "--", "--settings"])
    assert json.loads(Path(path).read_text()) == {"model": "x", "env": {"A": "1", BASE: URL}, "apiKeyHelper": ""}
    assert json.loads(Path(overruled(home, Seen(given={"env": None}), {BASE: URL}, [])[1]).read_text())["env"] == {
        BASE: URL
    }


def test_settings_that_cannot_be_read_are_refused_where_it_matters(home: Home) -> None:
    """They are not quoted."""
    with pytest.raises(Failure, match="leave it out") as caught:
        overruled(home, Seen(given=None), {BASE: URL}, ["--settings", "{secret"])
    assert "secret" not in str(caught.value)


def test_what_an_organisation_sets_is_told() -> None:
    """By name and place, never by value."""
    seen = Seen(env={BASE: "https://gw"}, where={BASE: "/etc/x.json"}, managed=frozenset({BASE, "OTHER"}))

    assert told(seen, {BASE: URL}) == [f"/etc/x.json sets {BASE}, and nothing goes before it: ask who manages it"]
    assert told(seen, {HEADERS: ""}) == []


def test_files_of_old_launches_go(home: Home) -> None:
    """And nothing else."""
    home.make()
    old, new, other = (home.state_folder / name for name in ("launch-0.json", "launch-1.json", "other.json"))
    for path in (old, new, other):
        path.write_text("{}")
    now = new.stat().st_mtime
    os.utime(old, (now - LASTS - 1, now - LASTS - 1))
    os.utime(other, (0, 0))
    forgotten(home.state_folder, now)

    assert sorted(one.name for one in home.state_folder.iterdir()) == ["launch-1.json", "other.json"]
