"""The harness of the end-to-end tests, tried on mitmproxy without flowpool."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.client import Client, turn
from tests.e2e.harness import FAST, Member, Proxy
from tests.upstream import Upstream, ok, plant
from tests.upstream.output import Output

WORK = plant("work")
MEMBER = Member(name="work", secret=WORK, rank=1)


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    """A fake with one account."""
    with Upstream({"work": WORK}) as running:
        yield running


def test_a_proxy_starts_serves_and_stops(tmp_path: Path, upstream: Upstream) -> None:
    """A program is ready when start returns, streams through, and leaves its log."""
    upstream.script("work", ok("a b").wait("gate", after="content_block_start"))
    with Proxy(tmp_path, upstream, program="bare") as proxy, Client(proxy.url) as client:
        client.send(turn(WORK))
        reply = client.begin().until(b"content_block_start")
        upstream.release("gate")
        assert reply.rest().text == "a b"
        assert proxy.wait_log("server connect")
    assert "listening" in proxy.log_text()


def test_an_addon_that_raises_fails_the_test(tmp_path: Path, upstream: Upstream) -> None:
    """A hook that raises is only logged by mitmproxy, so stop is what fails."""
    script = tmp_path / "broken.py"
    script.write_text("def request(flow):\n    raise ValueError('a fault')\n", encoding="utf-8")
    proxy = Proxy(tmp_path, upstream, program="bare", args=("-s", str(script))).start()
    with Client(proxy.url) as client:
        client.ask(turn(WORK))
    with pytest.raises(AssertionError, match="a fault"):
        proxy.stop()


def test_a_program_that_ends_is_told_from_one_that_runs(tmp_path: Path, upstream: Upstream) -> None:
    """A start that fails gives the exit code and both outputs."""
    ended = Proxy(tmp_path, upstream, program="bare", args=("--no-such-option",)).exits()
    assert ended.code != 0
    assert "no-such-option" in ended.err


def test_the_files_are_those_of_the_interface(tmp_path: Path, upstream: Upstream) -> None:
    """config.toml has the fast waits and the test's own, accounts.toml no secret, and both files of secrets are private."""
    proxy = Proxy(tmp_path, upstream, [MEMBER], settings={"wait": {"max": 9}})
    proxy.write()
    config = tomllib.loads((proxy.home / "config.toml").read_text(encoding="utf-8"))
    assert config["wait"] == FAST["wait"] | {"max": 9}
    assert config["providers"]["anthropic"]["upstream"] == upstream.url
    accounts = tomllib.loads((proxy.home / "accounts.toml").read_text(encoding="utf-8"))
    assert accounts["accounts"][0]["rank"] == 1
    assert (proxy.home / "secrets.json").stat().st_mode & 0o077 == 0


def test_a_leaked_token_is_found_wherever_it_stands(tmp_path: Path, upstream: Upstream) -> None:
    """Leaks names every file that holds the text, and secrets.json is the only one that may."""
    proxy = Proxy(tmp_path, upstream, [MEMBER])
    proxy.write()
    assert proxy.leaks(WORK) == []
    (tmp_path / "flows").write_bytes(b"\x00" + WORK.encode())
    assert proxy.leaks(WORK) == ["flows"]


def test_nothing_of_the_user_reaches_the_program(tmp_path: Path, upstream: Upstream) -> None:
    """The environment is built anew: its folders lie in the test's own."""
    env = Proxy(tmp_path, upstream).env()
    assert {env["HOME"], env["FLOWPOOL_HOME"]} == {str(tmp_path / "user"), str(tmp_path / "flowpool")}
    assert not [name for name in env if name.startswith(("XDG_", "ANTHROPIC_", "CLAUDE_", "SSL", "HTTP"))]


def test_output_waits_only_for_what_comes_after_the_mark() -> None:
    """A second start is not taken for ready by the line of the first, and closed pipes end the wait."""
    output = Output()
    assert output.wait_for(re.compile("(x)"), 5) is None
    output.mark()
    assert output.text() == ""
