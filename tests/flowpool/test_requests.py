"""requests shows the latest requests of the running proxy, and goes on with --follow."""

import json
import signal
import subprocess
import sys

import pytest

from home.state.state import State
from tests.flowpool.cli import ROOT, Shell
from tests.flowpool.pictures import LINE
from tests.flowpool.proxy import announce, listening, reply
from tests.interrupts import hears_ctrl_c

SECOND = LINE | {"id": "0002", "model": "claude-\x1b[2Jhaiku"}


def answer(*lines: object) -> bytes:
    """What the proxy says of these lines."""
    return reply(json.dumps({"requests": lines}).encode())


def test_lines_are_json_as_they_came(shell: Shell) -> None:
    """One object a line, its fields in their order; the last -n of them."""
    heard: list[bytes] = []
    with listening(answer(LINE, SECOND), heard) as address:
        announce(shell.home, address)
        out = shell.run("requests", "--json").stdout
        assert [json.loads(line) for line in out.splitlines()] == [LINE, SECOND]
        assert list(json.loads(out.splitlines()[0])) == list(LINE)
        assert [json.loads(line)["id"] for line in shell.run("requests", "--json", "-n", "1").stdout.splitlines()] == [
            "0002"
        ]
        assert "-n 0 shows nothing" in shell.run("requests", "--json", "-n", "0", code=2).stderr

    assert heard[0].startswith(b"GET /_flowpool/requests?last=1000 HTTP/1.1\r\n")


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
@pytest.mark.parametrize("zone", ["UTC", "Asia/Tehran", "America/New_York"])
def test_a_pipe_gets_tabs_on_every_console(shell: Shell, encoding: str, zone: str) -> None:
    """What a client named its model steers nothing, and an old console gets an arrow that it has (X107, X41)."""
    shell.environ |= {"PYTHONIOENCODING": encoding, "TZ": zone}
    with listening(answer(LINE, SECOND), []) as address:
        announce(shell.home, address)
        rows = [line.split("\t") for line in shell.run("requests").stdout.splitlines()]

    assert [len(row) for row in rows] == [9, 9]
    assert rows[0][4] == ("work limit → home" if encoding == "utf-8" else "work limit -> home")
    assert rows[1][2] == "claude- [2Jhaiku"


def test_nothing_yet(shell: Shell) -> None:
    """With and without a proxy it is said, and JSON stays empty."""
    assert shell.run("requests").stdout == "no requests yet\n"
    assert shell.run("requests", "--json").stdout == ""
    with listening(answer(), []) as address:
        announce(shell.home, address)
        assert shell.run("requests").stdout == "no requests yet\n"


@pytest.mark.parametrize(
    "strange", [reply(b"[]"), reply(b"{}"), answer(1), answer({}), answer({"id": 1}), answer({"id": "1"})], ids=range(6)
)
def test_a_strange_answer_is_one_clear_line(shell: Shell, strange: bytes) -> None:
    """Another program, or another version: exit 1."""
    with listening(strange, []) as address:
        announce(shell.home, address)
        assert shell.run("requests", code=1).stderr.count("\n") == 1


def test_what_the_proxy_does_not_remember_comes_from_the_state(shell: Shell) -> None:
    """Without a proxy all of it; with one, each request once and the older ones first."""
    shell.home.mkdir()
    state = State(shell.home / "state.sqlite3")
    for line in (LINE | {"id": "0000"}, LINE):
        state.enter(line)
    state.close()
    alone = shell.run("requests", "--json").stdout.splitlines()
    with listening(answer(LINE, SECOND), []) as address:
        announce(shell.home, address)
        both = shell.run("requests", "--json").stdout.splitlines()
        last = shell.run("requests", "--json", "-n", "2").stdout.splitlines()

    assert [json.loads(line) for line in alone] == [LINE | {"id": "0000"}, LINE]
    assert list(json.loads(alone[0])) == list(LINE)
    assert [json.loads(line)["id"] for line in both] == ["0000", LINE["id"], "0002"]
    assert [json.loads(line)["id"] for line in last] == [LINE["id"], "0002"]


def test_following_needs_a_proxy(shell: Shell) -> None:
    """Nothing would ever come."""
    assert "no proxy is running; start it with: flowpool start" in shell.run("requests", "--follow", code=1).stderr


def test_following_prints_each_request_once(shell: Shell) -> None:
    """What was shown is not shown again, whatever the proxy sends; Ctrl-C ends it with 0."""
    heard: list[bytes] = []
    environ = {"PATH": "/usr/bin:/bin", "FLOWPOOL_HOME": str(shell.home)}
    line = [sys.executable, "-m", "flowpool", "requests", "--json", "-f"]
    with listening(answer(LINE, SECOND), heard) as address:
        announce(shell.home, address)
        with subprocess.Popen(
            line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ, cwd=ROOT, preexec_fn=hears_ctrl_c
        ) as follower:
            assert follower.stdout is not None
            shown = [json.loads(follower.stdout.readline())["id"] for _ in range(2)]
            while len(heard) < 3:
                pass
            follower.send_signal(signal.SIGINT)
            rest, err = follower.communicate(timeout=60)

    assert (shown, rest, err, follower.returncode) == ([LINE["id"], "0002"], b"", b"", 0)
    assert heard[1].startswith(b"GET /_flowpool/requests?after=0002 HTTP/1.1\r\n")


def test_a_reader_that_has_seen_enough_is_no_fault(shell: Shell) -> None:
    """`requests | head -1` ends quietly."""
    with listening(answer(*[LINE | {"id": str(number)} for number in range(3000)]), []) as address:
        announce(shell.home, address)
        command = f"{sys.executable} -m flowpool requests --json -n 3000 | head -1"
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            env={"PATH": "/usr/bin:/bin", "FLOWPOOL_HOME": str(shell.home)},
            cwd=ROOT,
            capture_output=True,
            check=True,
        )

    assert (done.stdout.count(b"\n"), done.stderr) == (1, b"")
