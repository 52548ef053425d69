"""What turns Claude Code away from its login or from the pool is named, and its value is not."""

import json
from pathlib import Path

import pytest

from flowpool.findings import clientfiles
from flowpool.findings.finding import Level
from flowpool.findings.traps import CREDENTIALS, traps
from home import clientlogin
from home.checks import Address
from home.clientlogin import Place
from providers.anthropic.placeholder import PLACEHOLDER

LISTEN = Address(host="127.0.0.1", port=3456)
KEY = "sk-ant-api03-PLANTED"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Claude Code's files, none there."""
    return clientlogin.of_folder(tmp_path)


@pytest.mark.parametrize("name", CREDENTIALS)
def test_a_credential_in_the_environment_is_a_trap(place: Place, name: str) -> None:
    """In the shell, and in the block that Claude Code lays over it; an empty one is none."""
    (found,) = traps({name: KEY, "PATH": "/bin"}, place, LISTEN)
    assert (found.level, found.mend) == (Level.WARN, f"unset {name}")
    assert found.message.startswith(f"{name} is set: Claude Code ")
    clientfiles.settings(place).write_text(json.dumps({"env": {name: KEY, "X": "1"}}))
    (found, again) = traps({name: KEY}, place, LISTEN)
    assert again.message.startswith(f"{name} in {clientfiles.settings(place)}: Claude Code ")
    assert "PLANTED" not in f"{found}{again}"

    clientfiles.settings(place).unlink()
    assert traps({name: ""}, place, LISTEN)[0].level is Level.OK


ADDRESSES = [  # ANTHROPIC_BASE_URL, whether that is the pool
    ("", True),
    ("http://127.0.0.1:3456", True),
    ("http://127.0.0.1:3456/", True),
    ("http://localhost:3456", True),
    ("http://127.0.0.1:3457", False),
    ("https://api.anthropic.com", False),
    ("http://user:PLANTED@10.0.0.1:3456", False),
    ("http://[::1", False),
    ("http://127.0.0.1:99999", False),
    ("nonsense", False),
]


@pytest.mark.parametrize(("address", "is_ours"), ADDRESSES)
def test_an_address_elsewhere_is_a_trap(place: Place, address: str, is_ours: bool) -> None:
    """In the shell or in the settings; where the pool's own is not known, nothing is said."""
    given = {"ANTHROPIC_BASE_URL": address}
    (shell,) = traps(given, place, LISTEN)
    clientfiles.settings(place).write_text(json.dumps({"env": given}))
    (settings,) = traps({}, place, LISTEN)

    assert {shell.level, settings.level} == {Level.OK if is_ours else Level.WARN}
    assert "PLANTED" not in shell.message + settings.message
    assert traps(given, place, None)[0].level is Level.OK
    assert traps(given, place, Address(host="127.0.0.1", port=0))[0].level is Level.OK


def test_a_pool_that_listens_everywhere_is_asked_on_loopback(place: Place) -> None:
    """So `flowpool env` says it."""
    everywhere = Address(host="0.0.0.0", port=3456)

    assert traps({"ANTHROPIC_BASE_URL": "http://127.0.0.1:3456"}, place, everywhere)[0].level is Level.OK


def test_a_helper_for_keys_is_a_trap(place: Place) -> None:
    """It is named with its file, which the command opens."""
    clientfiles.settings(place).write_text(json.dumps({"apiKeyHelper": "echo PLANTED"}))
    (found,) = traps({}, place, LISTEN)

    assert found.message.startswith(f"apiKeyHelper in {clientfiles.settings(place)}: ")
    assert found.mend.endswith(str(clientfiles.settings(place)))
    assert "PLANTED" not in found.message


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"env": 7, "apiKeyHelper": null}', '{"env": {"ANTHROPIC_API_KEY": null}}']
)
def test_junk_is_at_most_a_warning(place: Place, text: str) -> None:
    """A file that cannot be read is said; one that says nothing is not."""
    clientfiles.settings(place).write_text(text)
    (found,) = traps({}, place, LISTEN)

    assert found.level is (Level.WARN if text in ("{", "[]") else Level.OK)


def test_the_placeholder_is_no_trap(place: Place) -> None:
    """It is no credential; whether it is needed is told elsewhere."""
    given = {"CLAUDE_CODE_OAUTH_TOKEN": PLACEHOLDER}
    clientfiles.settings(place).write_text(json.dumps({"env": given}))
    (found,) = traps(given, place, LISTEN)

    assert found.level is Level.OK
