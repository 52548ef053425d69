"""The proxy of a home is found where it runs, and started where none does."""

import os
import subprocess
import threading
from pathlib import Path

import pytest

from flowpool import background, health
from flowpool.background import answering, ensure
from flowpool.errors import Failure
from tests.flowpool.cli import Shell
from tests.flowpool.living import place, quiet, serving
from tests.flowpool.proxy import announce, listening, reply

ENVIRON = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring", "PATH": os.defpath}


@pytest.fixture(autouse=True)
def _environ(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is started finds the home of the test."""
    for name, value in ENVIRON.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("FLOWPOOL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path))


def healthy(pid: int) -> bytes:
    """What a proxy that is well answers."""
    return reply(b'{"status": "ok", "pid": %d}' % pid)


def test_one_that_answers_is_taken(tmp_path: Path) -> None:
    """Nothing is started beside it."""
    with listening(healthy(os.getpid()), []) as address:
        announce(tmp_path, address)
        assert ensure(place(tmp_path)).pid == os.getpid()


NONE = [b"", reply(b"{}"), healthy(1), reply(b'{"status": "draining", "pid": %d}' % os.getpid(), "503 No")]


@pytest.mark.parametrize("answer", NONE, ids=["breaks off", "something else", "another home's", "ends"])
def test_whatever_else_answers_is_none(tmp_path: Path, answer: bytes) -> None:
    """Something else listens there by now, or it is about to end."""
    with listening(answer, []) as address:
        announce(tmp_path, address)
        assert answering(place(tmp_path)) is None


def test_one_that_is_silent_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one beside it would not find its port free."""
    monkeypatch.setattr(health.of, "__defaults__", (0.2,))
    with listening(None, []) as address:
        announce(tmp_path, address)
        with pytest.raises(Failure, match="does not answer; run: flowpool stop"):
            answering(place(tmp_path))


def test_two_at_once_start_one(shell: Shell) -> None:
    """Who comes second waits, and finds what the first one started."""
    with quiet(shell) as home:
        found: list[int] = []
        threads = [threading.Thread(target=lambda: found.append(ensure(home, 60).pid)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert found == [serving(home).pid] * 2


def test_one_that_never_answers_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it said is quoted."""
    children: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def popen(_command: object, **kwargs: object) -> subprocess.Popen[bytes]:
        script = "echo flowpool: thinking; exec sleep 60"
        children.append(real(["/bin/sh", "-c", script], **kwargs))  # type: ignore[call-overload]
        return children[0]

    monkeypatch.setattr(subprocess, "Popen", popen)
    with pytest.raises(Failure, match="did not answer in time: thinking; to see all of it, run: flowpool serve"):
        ensure(place(tmp_path), 0.5)
    assert children[0].returncode is not None


def test_what_one_process_alone_was_told_is_not_passed_on() -> None:
    """A proxy that is started by the service's own process is not the service."""
    own = {"PATH": "/bin", "NOTIFY_SOCKET": "/x", "FLOWPOOL_SERVICE": "launchd", "FLOWPOOL_HANDED": "{}"}
    assert background.environ(own) == {"PATH": "/bin"}


def test_no_clients_credential_stays_with_the_proxy() -> None:
    """It has none of its own there, and runs for days; what its network needs is passed on."""
    own = {"HTTPS_PROXY": "http://corp", "ANTHROPIC_BASE_URL": "http://x", "FLOWPOOL_HOME": "/h"}
    names = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS")
    assert background.environ(own | dict.fromkeys((*names, "OPENAI_API_KEY"), "PLANTED")) == own


def test_one_that_takes_over_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who answers may still be the one before, which ends: nobody else is to be started."""
    told = [health.Health(pid=1, is_draining=True), health.Health(pid=1), health.Health(pid=os.getpid())]
    with listening(healthy(os.getpid()), []) as address:
        announce(tmp_path, address)
        monkeypatch.setattr(health, "of", lambda _address: told.pop(0))
        found = answering(place(tmp_path))
    assert found is not None
    assert (found.pid, told) == (os.getpid(), [])
