"""`flowpool uninstall` beside a proxy that serves: it ends, and nothing of it is left but what is said."""

from __future__ import annotations

from pathlib import Path

from home import running
from tests import command
from tests.e2e.harness import Member
from tests.e2e.living import Living
from tests.upstream import Upstream, closed_port, plant

SETTINGS = '{"enabledPlugins": {"a@b": true}} // mine\n'


def run(proxy: Living, *arguments: str, code: int = 0) -> str:
    """Run `flowpool ARGUMENTS` in the proxy's home; all that it showed."""
    return command.shown(arguments, proxy.env(), code=code)


def test_connected_killed_and_uninstalled(tmp_path: Path) -> None:
    """Connected all is well; with the proxy killed doctor says so; started again, uninstall ends it and deletes all of ours."""
    tokens = {"work": plant("work")}
    listen = {"listen": {"claude": f"127.0.0.1:{closed_port()}"}}
    with Upstream(tokens) as upstream:
        members = [Member(name="work", secret=tokens["work"])]
        with Living(tmp_path, upstream, members, settings=listen) as proxy:
            settings = proxy.user / ".claude" / "settings.json"
            settings.parent.mkdir()
            settings.write_text(SETTINGS)
            assert "no proxy runs" not in run(proxy, "connect")
            assert f"{settings} points Claude Code at the pool, however it is started" in run(proxy, "doctor")

            pid = proxy.now().pid
            proxy.kill()
            assert f"tells of a proxy, pid {pid}, that is gone; run: flowpool doctor --fix" in run(
                proxy, "doctor", code=1
            )
            run(proxy, "start")
            serving = proxy.now()
            said = run(proxy, "uninstall", "--purge", "--yes")

            assert f"the proxy (pid {serving.pid}) has ended" in said
            assert not running.is_there(serving)
            assert settings.read_text() == SETTINGS
            assert [path.name for path in settings.parent.iterdir()] == ["settings.json"]
            assert f"deleted {proxy.home}" in said, said
            assert not proxy.home.exists()
