"""A launch through the pool: by our proxy, with the model that there is room for, and watched."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from flowpool.launch import launching, loops
from flowpool.launch.launching import Launch, with_model
from home import running
from home.checks import Address
from home.paths import Home
from home.settings import parse
from providers.anthropic.placeholder import PLACEHOLDER
from tests.flowpool.cli import Shell
from tests.flowpool.launch.pooled import Pooled, answering, pooled
from tests.upstream import closed_port

# By the proxy


def test_by_the_proxy_the_child_alone_trusts_it(it: Pooled, tmp_path: Path) -> None:
    """Its certificate beside the person's, its address as the child's proxy, and no other address."""
    it.announce(forward=Address(host="127.0.0.1", port=3458))
    corp = tmp_path / "corp.pem"
    corp.write_text("-----BEGIN CERTIFICATE-----\ncorp\n")
    own = it.shell.home / "mitmproxy" / "mitmproxy-ca-cert.pem"
    own.parent.mkdir()
    own.write_text("-----BEGIN CERTIFICATE-----\nours\n")
    it.shell.environ |= {"HTTPS_PROXY": "http://corp:1", "NODE_EXTRA_CA_CERTS": str(corp)}
    environ = it.start("run", "--forward").environ

    assert environ["HTTPS_PROXY"] == environ["https_proxy"] == "http://127.0.0.1:3458"
    assert "ANTHROPIC_BASE_URL" not in environ
    together = Path(environ["NODE_EXTRA_CA_CERTS"])
    assert together.parent == it.shell.home
    assert together.read_text() == own.read_text() + corp.read_text()

    it.config("admit.key = true\n")
    environ = it.start("run", "--forward").environ
    key = (it.shell.home / "client.key").read_text().strip()
    assert environ["HTTPS_PROXY"] == f"http://flowpool:{key}@127.0.0.1:3458"
    assert "ANTHROPIC_CUSTOM_HEADERS" not in environ


@pytest.mark.parametrize(
    ("config", "mend"), [("", "config.toml"), ('listen.forward = "127.0.0.1:1"', "flowpool restart")]
)
def test_without_such_an_address_nothing_is_started(it: Pooled, config: str, mend: str) -> None:
    """The setting that gives it is named, or that the proxy has not taken it up."""
    it.config(config)
    said = it.shell.run("run", "--forward", code=1).stderr

    assert "[listen] forward" in said
    assert mend in said
    assert it.claude.starts() == []


# The model of launches


def full(it: Pooled) -> dict[str, object]:
    """An account without room."""
    del it
    window = {"key": "5h", "used": 1.0, "resets_at": "2099-01-01T00:00:00Z", "status": "rejected", "taken_at": None}
    return {"name": "work", "enabled": True, "windows": [window], "holds": []}


def test_the_model_of_launches_is_passed_while_there_is_room(it: Pooled) -> None:
    """Before the person's own words, unless these name one."""
    it.config('launch.model = "opus"\n')
    assert it.start("run", "-p", "hi").arguments == ["--model", "opus", "-p", "hi"]
    assert it.start("run", "--", "--model", "haiku").arguments == ["--model", "haiku"]

    it.shell.environ["ANTHROPIC_MODEL"] = "sonnet"
    assert it.start("run", "-p", "hi").arguments == ["-p", "hi"]


def test_without_room_for_it_nothing_is_passed(shell: Shell, tmp_path: Path) -> None:
    """One line says so, and until when."""
    it = pooled(shell, tmp_path)
    with answering(it, accounts=[full(it)]):
        it.config('launch.model = "opus"\n')
        answer = it.shell.run("run", "-p", "hi")

    assert it.claude.start().arguments == ["-p", "hi"]
    assert answer.stderr.startswith("flowpool: no account has room for opus until ")
    assert len(answer.stderr.splitlines()) == 1
    assert b"GET /_flowpool/status " in b"".join(it.heard)


LAUNCH = Launch(program=Path("/claude"), arguments=("-p", "hi"), environ={})
SET = b'launch.model = "opus"\n'


@pytest.mark.parametrize("key", [None, "damaged"])
def test_where_nobody_can_tell_the_model_is_kept(tmp_path: Path, key: str | None) -> None:
    """Nobody listens, or the key is damaged: neither is full evidence."""
    home = Home.find({"FLOWPOOL_HOME": str(tmp_path)})
    if key is not None:
        home.control_key.write_text(key)
        home.control_key.chmod(0o600)
    address = Address(host="127.0.0.1", port=closed_port())

    assert with_model(home, parse(home.config, SET), address, LAUNCH) == ("--model", "opus", "-p", "hi")


@pytest.mark.parametrize("status", [b"", b"[]", b"{", b'{"accounts": [{"enabled": true}]}'])
def test_an_answer_that_makes_no_sense_keeps_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: bytes
) -> None:
    """Neither does one that is no status, whatever its code."""
    home = Home.find({"FLOWPOOL_HOME": str(tmp_path)})
    for code in (200, 400):
        monkeypatch.setattr("flowpool.ask.get", lambda *_, code=code: (code, status))
        found = with_model(home, parse(home.config, SET), Address(host="127.0.0.1", port=1), LAUNCH)
        assert found[:2] == ("--model", "opus")


def test_management_gets_no_model(tmp_path: Path) -> None:
    """It knows no such option."""
    home = Home.find({"FLOWPOOL_HOME": str(tmp_path)})
    launch = replace(LAUNCH, arguments=("mcp", "list"))

    assert with_model(home, parse(home.config, SET), Address(host="127.0.0.1", port=1), launch) == ("mcp", "list")


# Beside Claude Code's settings


def settings(it: Pooled, **found: Any) -> None:
    """Write the person's own."""
    Path(it.shell.environ["CLAUDE_CONFIG_DIR"], "settings.json").write_text(json.dumps(found))


def test_without_a_conflict_no_settings_are_passed(it: Pooled) -> None:
    """Also where `flowpool connect` wrote the same."""
    settings(it, env={"ANTHROPIC_BASE_URL": it.url, "ENABLE_TOOL_SEARCH": "false", "OTHER": "1"}, model="x")
    start = it.start("run", "-p", "hi")

    assert start.arguments == ["-p", "hi"]
    assert "OTHER" not in start.environ


def test_settings_do_not_keep_a_launch_from_the_pool(it: Pooled) -> None:
    """What they would set otherwise is passed by the option that goes before them, and the person is told as ever."""
    env = {"ANTHROPIC_BASE_URL": "https://gateway", "ANTHROPIC_API_KEY": "sk-ant-api03-x", "HTTPS_PROXY": "http://corp"}
    settings(it, env=env, apiKeyHelper="echo")
    answer = it.shell.run("run", "-p", "hi")
    start = it.claude.start()
    option, laid, *rest = start.arguments

    assert (option, rest) == ("--settings", ["-p", "hi"])
    assert json.loads(laid) == {
        "env": {"ANTHROPIC_BASE_URL": it.url, "ANTHROPIC_API_KEY": ""},
        "apiKeyHelper": "",
    }
    assert start.environ["NO_PROXY"] == "127.0.0.1"
    for word in ("ANTHROPIC_BASE_URL is replaced", "ANTHROPIC_API_KEY is set", "apiKeyHelper is set"):
        assert word in answer.stderr


def test_no_secret_stands_in_a_command_line(it: Pooled) -> None:
    """Neither the person's headers nor the key; the pin reaches the proxy beside both."""
    it.shell.add("work")
    it.config("admit.key = true\n")
    settings(it, env={"ANTHROPIC_CUSTOM_HEADERS": "x-gateway: hidden"})
    start = it.start("run", "--account", "work", "-p", "hi")
    headers = json.loads(Path(start.arguments[1]).read_text())["env"]["ANTHROPIC_CUSTOM_HEADERS"].splitlines()

    assert headers[:2] == ["x-gateway: hidden", "x-flowpool-pin: work"]
    assert headers[2].removeprefix("x-flowpool-key: ") in start.environ["ANTHROPIC_CUSTOM_HEADERS"]
    assert not [one for one in start.arguments if "hidden" in one or headers[2] in one]


def test_a_token_in_settings_is_a_login(it: Pooled) -> None:
    """So nothing stands for one."""
    Path(it.shell.environ["CLAUDE_CONFIG_DIR"], ".credentials.json").unlink()
    settings(it, env={"CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-mine"})
    start = it.start("run", "-p", "hi")

    assert (start.arguments, "CLAUDE_CODE_OAUTH_TOKEN" in start.environ) == (["-p", "hi"], False)


def test_a_resumed_session_keeps_what_goes_before_settings(it: Pooled) -> None:
    """The option is among those that it is resumed with."""
    settings(it, env={"ANTHROPIC_BASE_URL": "https://gateway"})
    arguments = it.start("run", "--resume-on-limit", "-p", "hi").arguments

    assert (arguments[0], arguments[2], arguments[4:]) == ("--session-id", "--settings", ["-p", "hi"])


# Watched launches


@pytest.mark.parametrize("by", ["option", "setting"])
def test_a_launch_is_watched_on_request(it: Pooled, by: str) -> None:
    """By the option or the setting: it is our child then, and its code is ours."""
    type(it.claude)(it.claude.path, "sys.exit(7)")
    it.config("launch.resume_on_limit = true\n" if by == "setting" else "")
    it.shell.run("run", *(["--resume-on-limit"] if by == "option" else []), "-p", "hi", code=7)

    start = it.claude.start()
    mark = loops.read(start.environ)
    assert start.arguments[0] == "--session-id"
    assert mark is not None  # so that a wrapper which starts us again comes to an end
    assert (mark.paths, mark.pid != start.pid) == ((str(it.claude.path),), True)


def test_a_launch_without_an_id_is_not_watched(it: Pooled) -> None:
    """One line says so, and it is started all the same."""
    answer = it.shell.run("run", "--resume-on-limit", "--continue")

    assert it.claude.start().arguments == ["--continue"]
    assert answer.stderr.startswith("flowpool: nothing is watched")


def test_what_is_said_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    """What Claude Code prints stays alone on stdout."""
    launching.say("x")
    out: Any = capsys.readouterr()

    assert (out.out, out.err) == ("", "flowpool: x\n")


# Without a login


def test_without_a_primary_that_is_told_in_both_ways(it: Pooled, tmp_path: Path) -> None:
    """By the proxy, too; accounts that cannot be read are no reason to say so, nor to start nothing."""
    it.announce(forward=Address(host="127.0.0.1", port=3458))
    own = it.shell.home / "mitmproxy" / "mitmproxy-ca-cert.pem"
    own.parent.mkdir()
    own.write_text("-----BEGIN CERTIFICATE-----\nours\n")
    (tmp_path / "client" / ".credentials.json").unlink()
    it.shell.add("work")
    assert it.shell.run("run", "--forward").stderr.splitlines() == [f"flowpool: {launching.NO_PRIMARY}"]

    (it.shell.home / "accounts.toml").write_text("broken")
    assert it.shell.run("run").stderr == ""


def test_a_placeholder_in_settings_hides_no_token(it: Pooled, tmp_path: Path) -> None:
    """`flowpool connect` put it there; the person's own, of the shell or saved, goes before it for this launch."""
    settings(it, env={"CLAUDE_CODE_OAUTH_TOKEN": PLACEHOLDER})
    assert it.start("run", "-p").arguments[:2] == ["--settings", '{"env": {"CLAUDE_CODE_OAUTH_TOKEN": ""}}']

    it.shell.environ["CLAUDE_CODE_OAUTH_TOKEN"] = "mine"
    (tmp_path / "client" / ".credentials.json").unlink()
    option, file, *_ = it.start("run", "-p").arguments
    assert option == "--settings"
    assert json.loads(Path(file).read_text()) == {"env": {"CLAUDE_CODE_OAUTH_TOKEN": "mine"}}


# When the pool serves again


def test_before_when_nobody_may_serve(shell: Shell, tmp_path: Path) -> None:
    """As the proxy knows it, be it a minute away; where somebody may, or nobody tells, there is no such time."""
    it, home = pooled(shell, tmp_path), Home.find({"FLOWPOOL_HOME": str(shell.home)})
    soon = datetime.now(UTC) + timedelta(minutes=1)
    window = {"key": "5h", "used": 1.0, "resets_at": soon.isoformat(), "status": None, "taken_at": None}
    busy = {"name": "work", "enabled": True, "windows": [window], "holds": []}
    proxy = running.Running(pid=1, listen={"claude": it.address}, started=soon)
    for accounts, wanted in (([busy], soon), ([busy, busy | {"windows": []}], None), ([], None)):
        with answering(it, accounts=accounts):
            assert launching.recovery(home, proxy, LAUNCH) == wanted
    assert launching.recovery(home, proxy, LAUNCH) is None


def test_a_models_own_window_counts_for_it_alone(shell: Shell, tmp_path: Path) -> None:
    """Which model is asked is told by the arguments or the environment."""
    it, home = pooled(shell, tmp_path), Home.find({"FLOWPOOL_HOME": str(shell.home)})
    soon = datetime.now(UTC) + timedelta(hours=1)
    hold = {"scope": "opus", "until": soon.isoformat(), "because": "x", "row": 12}
    with answering(it, accounts=[{"name": "work", "enabled": True, "windows": [], "holds": [hold]}]):
        proxy = running.read(home.running)
        assert proxy is not None
        assert launching.recovery(home, proxy, LAUNCH) is None
        assert launching.recovery(home, proxy, replace(LAUNCH, arguments=("--model", "opus", "-p"))) == soon
        assert launching.recovery(home, proxy, replace(LAUNCH, environ={"ANTHROPIC_MODEL": "opus"})) == soon


def test_a_watched_launch_is_told_when(it: Pooled, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who resumes it asks the running proxy."""
    for name, value in it.shell.environ.items():
        monkeypatch.setenv(name, value)
    home, asked = Home.find({"FLOWPOOL_HOME": str(it.shell.home)}), list[object]()

    def resumed(*given: Any) -> int:
        asked.append(given[4]())
        return 7

    monkeypatch.setattr("flowpool.launch.resuming.run", resumed)
    proxy = running.read(home.running)
    assert proxy is not None
    launch = replace(LAUNCH, environ=it.shell.environ, resumes=True)

    assert launching.start(home, parse(home.config, b""), proxy, launch) == 7
    assert asked == [None]
    assert b"GET /_flowpool/status " in b"".join(it.heard)
