"""Settings that lead to a pool where nobody is are a failure; elsewhere they are none of our business."""

import json
from pathlib import Path

import pytest

from flowpool.findings.connected import connected
from flowpool.findings.finding import Level
from flowpool.launch import connecting, wishes
from flowpool.launch.wishes import Reach
from home.checks import Address
from home.paths import Home

LISTEN = Address(host="127.0.0.1", port=3456)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home, and a folder of Claude Code's."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    return Home(config_folder=tmp_path / "home", state_folder=tmp_path / "home")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"env": 7}', '{"env": {"ANTHROPIC_BASE_URL": 7}}', "\xff"])
def test_who_is_not_sent_here_has_no_line(home: Home, tmp_path: Path, text: str) -> None:
    """Nor one whose settings cannot be read: another line says that."""
    assert connected(home, None) == []
    (tmp_path / "settings.json").write_text(text, encoding="latin-1")
    assert connected(home, None) == []
    (tmp_path / "settings.json").write_text(json.dumps({"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}}))

    assert connected(home, LISTEN) == []


def test_a_dead_proxy_is_a_failure(home: Home, tmp_path: Path) -> None:
    """Whoever wrote it there, and with comments too; with a proxy all is well."""
    path = tmp_path / "settings.json"
    path.write_text('{"env": {"ANTHROPIC_BASE_URL": "http://localhost:3456/"}} // by hand')
    (dead,) = connected(home, None)
    (well,) = connected(home, LISTEN)

    assert (dead.level, dead.mend) == (Level.FAIL, "flowpool start")
    assert dead.message.startswith(f"{path} points Claude Code at the pool, where no proxy runs")
    assert "flowpool disconnect" in dead.message
    assert (well.level, well.mend) == (Level.OK, "")
    assert not home.state_folder.exists()


def test_every_connected_file_is_looked_at(home: Home, tmp_path: Path) -> None:
    """Once, by whatever name."""
    other = tmp_path / "other.json"
    (tmp_path / "settings.json").symlink_to(other)
    reach = Reach(base_url=f"http://{LISTEN}", addresses=(LISTEN,))
    connecting.lay(home, "claude", other, wishes.wishes(reach))
    connecting.lay(home, "claude", tmp_path / "third.json", wishes.wishes(reach))

    assert [one.message.partition(" ")[0] for one in connected(home, None)] == [
        str(tmp_path / "settings.json"),
        str(tmp_path / "third.json"),
    ]
