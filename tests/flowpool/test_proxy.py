"""The running proxy is found, asked with its key, and its strange answers are told apart."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpool import proxy
from flowpool.errors import Failure
from flowpool.proxy import Proxy, Told, clean
from home import running
from home.paths import Home
from home.running import Running
from tests.flowpool.proxy import announce, listening, reply

WRONG_KEY = json.dumps({"error": {"message": "the header x-flowpool-key is missing or wrong: its value …"}}).encode()


RESTART = "flowpool restart"
KILL = f"kill {os.getpid()}, then flowpool start"


def home(folder: Path) -> Home:
    """A pool's folder."""
    return Home(config_folder=folder, state_folder=folder)


@given(st.text())
def test_nothing_that_is_shown_steers_a_terminal(text: str) -> None:
    """Every letter is printable, and none is lost."""
    assert clean(text).isprintable()
    assert len(clean(text)) == len(text)


def test_nobody_runs(tmp_path: Path) -> None:
    """Without running.json there is no proxy, and telling it is nothing."""
    assert proxy.find(home(tmp_path)) is None
    assert proxy.tell(home(tmp_path)) is Told.NOBODY
    with listening(b"", []) as address:
        pass
    announce(tmp_path, address)
    assert proxy.tell(home(tmp_path)) is Told.NOBODY


def test_it_is_found_with_its_key_which_is_not_shown(tmp_path: Path) -> None:
    """A question carries the key; printing the proxy does not."""
    heard: list[bytes] = []
    with listening(reply(b"{}"), heard) as address:
        key = announce(tmp_path, address)
        found = proxy.find(home(tmp_path))
        assert found is not None
        assert found.get("/x") == b"{}"
        assert found.post("/y", {"a": 1}) == b"{}"

    assert key not in f"{found!r} {found}"
    assert all(f"x-flowpool-key: {key}\r\n".encode() in one for one in heard)
    assert heard[1].endswith(b'\r\n\r\n{"a": 1}')


@pytest.mark.parametrize(
    ("answer", "says", "mend"),
    [
        (None, "did not answer within", RESTART),
        (b"", "broke off", RESTART),
        (reply(b"", "403 Forbidden"), "does not accept", KILL),
        (reply(WRONG_KEY, "400 Bad Request"), "does not accept", KILL),
        (reply(b"", "500 Oh"), "answered 500; it may not be flowpool", RESTART),
    ],
    ids=range(5),
)
def test_what_is_wrong_is_one_line(
    tmp_path: Path, answer: bytes | None, says: str, mend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hung, a broken, a foreign one; one that does not take our key can be asked for nothing."""
    monkeypatch.setattr(proxy, "PATIENCE", 0.2)
    with listening(answer, []) as address:
        announce(tmp_path, address)
        found = proxy.find(home(tmp_path))
        assert found is not None
        with pytest.raises(Failure, match=says):
            found.get("/x")
        with pytest.raises(Failure, match=f" run: {mend}$"):
            found.get("/x")


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"<", b"[" * 100_000])
def test_an_answer_is_an_object(data: bytes) -> None:
    """Anything else is not flowpool's."""
    with listening(b"", []) as address:
        pass
    with pytest.raises(Failure, match="does not answer as flowpool does"):
        proxy.document(Proxy(pid=1, address=address, key="k"), data)


def test_a_lost_key_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Asking fails; a change that is only told goes on with a word."""
    with listening(b"", []) as address:
        announce(tmp_path, address)
    (tmp_path / "control.key").unlink()
    with pytest.raises(Failure, match="key is missing; run: flowpool stop, then flowpool start"):
        proxy.find(home(tmp_path))
    assert proxy.tell(home(tmp_path)) is Told.UNSURE

    assert capsys.readouterr().err.startswith("flowpool: the running proxy may not know yet: ")


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (b'{"reloaded": true, "notices": []}', ""),
        (b'{"reloaded": false, "notices": []}', "flowpool: the running proxy is still reading the secrets\n"),
        (b'{"reloaded": false, "notices": ["a", "b"]}', "flowpool: a\nflowpool: b\n"),
        (b'{"reloaded": true, "notices": 3}', ""),
    ],
)
def test_what_a_reload_met_is_shown(
    tmp_path: Path, answer: bytes, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing when all is well; a slow store and wrong files in a line each."""
    with listening(reply(answer), []) as address:
        announce(tmp_path, address)
        told = proxy.tell(home(tmp_path))

    assert told is (Told.UNSURE if says else Told.TAKEN)
    assert capsys.readouterr().err == says


def test_a_proxy_that_serves_another_client_is_not_asked(tmp_path: Path) -> None:
    """Its file names no address that we know."""
    with listening(b"", []) as address:
        announce(tmp_path, address)
        me = running.read(tmp_path / "running.json")
        assert me is not None
        running.write(
            tmp_path / "running.json", Running(pid=me.pid, listen={"other": address}, started=datetime.now(UTC))
        )
        with pytest.raises(Failure, match="key is missing; run: flowpool stop, then flowpool start"):
            proxy.find(home(tmp_path))
