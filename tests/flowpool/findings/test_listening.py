"""Who has the address, and whether this pool's proxy is well."""

import json
import os
import socket
import sys
from pathlib import Path

import pytest

from flowpool.findings import listening
from flowpool.findings.finding import Level, skip
from home.checks import Address
from home.paths import Home
from home.version import version
from tests.flowpool import proxy
from tests.flowpool.proxy import announce, reply


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home without a proxy."""
    return Home(config_folder=tmp_path, state_folder=tmp_path)


def status(**changes: object) -> bytes:
    """What a proxy says of itself."""
    return reply(json.dumps({"version": version(), "notices": [], **changes}).encode())


ANSWERS = [  # what it answers, the level, what is said
    (status(), Level.OK, "flowpool {version}, answers at {address}"),
    (status(version="0.0.1"), Level.WARN, "runs flowpool 0.0.1, and this is {version}"),
    (status(notices=["the accounts stay as they were"]), Level.WARN, "says: the accounts stay as they were"),
    (status(notices=["no login works; run: flowpool doctor"]), Level.WARN, "says: no login works"),
    (reply(b"[1]"), Level.FAIL, "what listens at {address} does not answer as flowpool does"),
    (reply(b'{"version": 1, "notices": null}'), Level.FAIL, "does not answer as flowpool does"),
    (reply(b"{}", "400 Bad"), Level.FAIL, "what listens at {address} answered 400"),
    (reply(b"{}", "403 No"), Level.FAIL, "the proxy at {address} does not accept this FLOWPOOL_HOME's control.key"),
    (b"", Level.FAIL, "the proxy (pid {pid}) at {address} broke off: ValueError"),
]


@pytest.mark.parametrize(("answer", "level", "says"), ANSWERS, ids=range(len(ANSWERS)))
def test_a_proxy_is_asked_how_it_is(home: Home, answer: bytes, level: Level, says: str) -> None:
    """Another version, trouble that it knows of, and what is no flowpool are told apart, each with its way out."""
    with proxy.listening(answer, []) as address:
        announce(home.state_folder, address)
        _, found = listening.running(home)

    assert (found.part, found.level) == ("proxy", level)
    assert says.format(version=version(), address=address, pid=os.getpid()) in found.message
    assert bool(found.mend) is (level is not Level.OK)
    assert "; run: " not in found.message
    assert found.mend != "flowpool doctor"


def test_one_that_is_silent_fails_in_time(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is there and does not answer."""
    monkeypatch.setattr("flowpool.proxy.PATIENCE", 0.1)
    with proxy.listening(None, []) as address:
        announce(home.state_folder, address)
        _, found = listening.running(home)

    assert (found.level, "did not answer within 0.1 s" in found.message) == (Level.FAIL, True)
    assert found.message.endswith("; try again")
    assert found.mend == "flowpool restart"


def test_none_is_no_fault(home: Home) -> None:
    """Neither without a file, nor where nobody listens any more; a key that is missing is one."""
    assert listening.running(home) == (None, skip("proxy", "not running", "flowpool start"))
    with proxy.listening(status(), []) as address:
        announce(home.state_folder, address)
    assert listening.running(home)[1].level is Level.SKIP
    home.control_key.unlink()

    found = listening.running(home)[1]
    assert found.message == "the running proxy's key is missing"
    assert found.mend == "flowpool stop, then flowpool start"


def test_a_key_that_others_can_read_is_told_with_its_own_command(home: Home) -> None:
    """A new start of the proxy would not mend it."""
    with proxy.listening(status(), []) as address:
        announce(home.state_folder, address)
        home.control_key.chmod(0o644)
        _, found = listening.running(home)

    assert found.message == f"{home.control_key} can be read or changed by other users"
    assert found.mend == f"chmod 600 '{home.control_key}'"


def test_a_port_that_is_free_or_ours_is_well(home: Home) -> None:
    """So is one that the system chose."""
    with proxy.listening(status(), []) as address:
        assert listening.port(address, address, home).message == f"{address} is this pool's proxy"
        any_port = Address(host="127.0.0.1", port=0)
        assert listening.port(any_port, address, home).level is Level.OK

    assert listening.port(address, None, home).message == f"{address} is free"
    assert listening.port(any_port, None, home).level is Level.OK


def test_a_taken_port_names_who_has_it(home: Home) -> None:
    """And what else to do about it."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        taken.settimeout(5)
        listen = Address(host="127.0.0.1", port=taken.getsockname()[1])
        found = listening.port(listen, None, home)

    assert found.level is Level.FAIL
    assert f"set another address as [listen] claude in {home.config}" in found.message
    if sys.platform == "linux":
        assert f"(pid {os.getpid()})" in found.message
        assert found.mend == f"kill {os.getpid()}"


def test_an_address_of_another_machine_is_told_as_one(home: Home) -> None:
    """It is not taken, and no program is to be ended."""
    found = listening.port(Address(host="192.0.2.1", port=3456), None, home)

    assert found.level is Level.FAIL
    assert found.message.startswith("nobody can listen at 192.0.2.1:3456 here: ")
    assert found.mend.endswith(str(home.config))


def test_another_pools_proxy_is_said_to_be_one(home: Home) -> None:
    """It answers the question that needs no key."""
    with proxy.listening(reply(b'{"status": "ok"}'), []) as address:
        found = listening.port(address, None, home)

    assert "is taken by a flowpool of another FLOWPOOL_HOME, " in found.message


@pytest.mark.parametrize(
    ("host", "level"), [("127.0.0.1", Level.OK), ("::1", Level.OK), ("localhost", Level.OK), ("0.0.0.0", Level.WARN)]
)
def test_an_address_that_others_reach_is_a_warning(home: Home, host: str, level: Level) -> None:
    """With what to set instead."""
    found = listening.exposure(Address(host=host, port=3456), home)

    assert found.level is level
    assert ("set [listen] claude to 127.0.0.1:3456" in found.message) is (level is Level.WARN)


def test_an_address_that_others_reach_by_a_key_is_a_warning_too(home: Home) -> None:
    """For what they say can be read on the way."""
    found = listening.exposure(Address(host="0.0.0.0", port=3456), home, is_keyed=True)

    assert (found.level, "plain http" in found.message) == (Level.WARN, True)
    assert listening.exposure(Address(host="127.0.0.1", port=3456), home, is_keyed=True).level is Level.OK
