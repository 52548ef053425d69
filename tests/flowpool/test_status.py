"""status tells how the pool stands, with and without a proxy."""

import json

import pytest

from tests.flowpool.cli import Shell
from tests.flowpool.pictures import FULL
from tests.flowpool.proxy import EMPTY, announce, listening, reply


def test_without_a_proxy_it_tells_what_the_files_know(shell: Shell) -> None:
    """The document says running false, lists the accounts, and exits 0."""
    shell.add("work")
    found = json.loads(shell.run("status", "--json").stdout)

    assert (found["running"], found["pid"], found["listen"]) == (False, None, {"claude": "127.0.0.1:3456"})
    assert [(one["name"], one["state"]) for one in found["accounts"]] == [("work", "unmeasured")]
    assert "not running; start it with: flowpool start" in shell.run("status").stdout


def test_the_running_proxy_is_asked_with_the_key(shell: Shell) -> None:
    """What the proxy answers is printed whole; the key rides in its header, the settings are not read."""
    heard: list[bytes] = []
    with listening(reply(json.dumps(FULL).encode()), heard) as address:
        key = announce(shell.home, address)
        (shell.home / "config.toml").write_text("broken")
        assert json.loads(shell.run("status", "--json").stdout) == FULL
        assert "5h 100%" in shell.run("status").stdout

    assert heard[0].startswith(b"GET /_flowpool/status HTTP/1.1\r\n")
    assert f"\r\nx-flowpool-key: {key}\r\n".encode() in heard[0]
    assert not [text for text in shell.shown if key in text]


def test_a_config_that_was_changed_meanwhile_is_said(shell: Shell) -> None:
    """In a line, and among the notices of the document."""
    line = "config.toml was changed since the proxy took it up; run: flowpool restart"
    with listening(reply(json.dumps(FULL).encode()), []) as address:
        announce(shell.home, address)
        path = shell.home / "running.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"config": "another"}))

        assert json.loads(shell.run("status", "--json").stdout) == FULL | {"notices": [*FULL.get("notices", []), line]}
        assert line in shell.run("status").stdout


def test_a_pid_that_is_another_program_by_now_means_no_proxy(shell: Shell) -> None:
    """When the process lives but nothing listens, the proxy is gone (X109)."""
    with listening(b"", []) as address:
        pass
    announce(shell.home, address)

    assert json.loads(shell.run("status", "--json").stdout)["running"] is False


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (None, "did not answer within 2 s"),
        (b"", "broke off"),
        (reply(b"", "403 Forbidden"), "does not accept this FLOWPOOL_HOME's control.key"),
        (reply(b"", "404 Not Found"), "answered 404; it may not be flowpool"),
        (reply(b"<html>"), "does not answer as flowpool does"),
        (reply(EMPTY[:-1]), "does not answer as flowpool does"),
    ],
    ids=range(6),
)
def test_a_strange_answer_is_one_clear_line(shell: Shell, answer: bytes | None, says: str) -> None:
    """A hung proxy, a wrong key and another program are told apart in one line each, exit 1."""
    with listening(answer, []) as address:
        announce(shell.home, address)
        err = shell.run("status", code=1).stderr

    assert says in err
    assert err.count("\n") == 1


def test_a_missing_or_exposed_key_is_said(shell: Shell) -> None:
    """Without a usable key the proxy is not asked."""
    heard: list[bytes] = []
    with listening(reply(EMPTY), heard) as address:
        announce(shell.home, address)
        (shell.home / "control.key").chmod(0o644)
        assert "run: chmod 600" in shell.run("status", code=1).stderr
        (shell.home / "control.key").unlink()
        assert "flowpool stop, then flowpool start" in shell.run("status", code=1).stderr

    assert heard == []


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
@pytest.mark.parametrize("zone", ["UTC", "Asia/Tehran", "America/New_York"])
def test_it_works_on_every_console_in_every_zone(shell: Shell, encoding: str, zone: str) -> None:
    """The screen needs no letter that an old console lacks, and the document's times do not move (X107, X41)."""
    shell.environ |= {"PYTHONIOENCODING": encoding, "TZ": zone}
    with listening(reply(json.dumps(FULL).encode()), []) as address:
        announce(shell.home, address)
        out = shell.run("status").stdout
        assert json.loads(shell.run("status", "--json").stdout) == FULL

    assert out.isascii() == (encoding != "utf-8")
    assert "work" in out
