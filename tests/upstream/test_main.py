"""The fake as a program of its own, scripted over HTTP."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.client import Client, Request, turn
from tests.upstream import plant
from tests.upstream.output import Output

ROOT = Path(__file__).parents[2]
WORK = plant("work")


@pytest.fixture
def url() -> Iterator[str]:
    """The address that the running program printed; it ends when its input closes."""
    command = [sys.executable, "-m", "tests.upstream", "--port", "0", "--no-bodies", "--account", f"work={WORK}"]
    pipe, output = subprocess.PIPE, Output()
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        output.follow(process)
        found = output.wait_for(re.compile(r"^(http://127\.0\.0\.1:\d+)$"), 20)
        assert found, output.text()
        yield found
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(20) == 0
        output.join()
    assert output.text() == f"{found}\n"


def tell(client: Client, name: str, **said: object) -> object:
    """Give one instruction."""
    return client.ask(Request(path=f"/_upstream/{name}", body=json.dumps(said).encode())).json()


def test_it_is_scripted_from_another_process(url: str) -> None:
    """Answers are queued by builder, arguments and methods, and the log is asked for without secrets."""
    answers = [
        {"call": "limit", "args": ["7d"], "kwargs": {"resets_in": 60}},
        {"call": "ok", "args": ["a b"], "then": [["wait", "gate", {"after": "message_start"}], ["crlf"]]},
    ]
    with Client(url) as client, Client(url) as other:
        assert tell(client, "script", account="work", answers=answers) == {"done": "script"}
        assert client.ask(turn(WORK)).status == 429
        client.send(turn(WORK))
        reply = client.begin().until(b"message_start")
        tell(other, "release", gate="gate")
        assert reply.rest().text == "a b"
        log = client.ask(Request(path="/_upstream/requests", body=b"{}"))
    assert [entry["account"] for entry in log.json()] == ["work", "work"]
    assert WORK.encode() not in log.body


def test_a_wrong_instruction_says_what_is_wrong(url: str) -> None:
    """An unknown builder is answered 400 with its name."""
    with Client(url) as client:
        said = {"account": "work", "answers": [{"call": "no_such"}]}
        reply = client.ask(Request(path="/_upstream/script", body=json.dumps(said).encode()))
    assert reply.status == 400
    assert "no_such" in reply.body.decode()


def test_it_renews_logins(url: str) -> None:
    """A login is issued on an instruction, and exchanged once, also after a reset."""
    with Client(url) as client:
        tell(client, "reset")
        said = tell(client, "issue", account="work")
        assert isinstance(said, dict)
        refresh = json.loads(said["login"])["claudeAiOauth"]["refreshToken"]
        body = json.dumps({"grant_type": "refresh_token", "refresh_token": refresh}).encode()
        assert [client.ask(Request(path="/v1/oauth/token", body=body)).status for _ in range(2)] == [200, 400]
