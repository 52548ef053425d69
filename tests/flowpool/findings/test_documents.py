"""config.toml and accounts.toml are read, never made."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from flowpool.findings import documents
from flowpool.findings.finding import Level
from home import running
from home.checks import Address
from home.paths import Home
from home.running import Running

ACCOUNT = '[[accounts]]\nid = "a{0}"\nname = "n{0}"\nprovider = "anthropic"\nkind = "api-key"\nenabled = {1}\n'


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """An empty home."""
    return Home(config_folder=tmp_path, state_folder=tmp_path)


def test_missing_files_are_no_fault_and_are_not_made(home: Home) -> None:
    """The defaults hold, and there are no accounts."""
    chosen, config = documents.config(home)
    known, accounts = documents.accounts(home)

    assert chosen is not None
    assert (config.level, known, accounts.level) == (Level.OK, (), Level.SKIP)
    assert list(home.config_folder.iterdir()) == []


def test_a_config_that_the_proxy_did_not_read_is_a_warning(home: Home) -> None:
    """With the command that makes it do so."""
    home.config.write_text("# one")
    proxy = Running(
        pid=os.getpid(),
        listen={"claude": Address(host="::1", port=1)},
        started=datetime.now(UTC),
        config=running.digest(home.config),
    )
    running.write(home.running, proxy)
    assert documents.config(home)[1].level is Level.OK
    home.config.write_text("# two")
    found = documents.config(home)[1]

    assert (found.level, found.mend) == (Level.WARN, "flowpool restart")
    assert found.message.endswith("was changed since the proxy took it up")


def test_good_ones_are_read(home: Home) -> None:
    """How many accounts there are is said, and how many of them are disabled."""
    home.config.write_text('credentials.backend = "file"')
    home.accounts.write_text("version = 1\n" + ACCOUNT.format(1, "true"))
    chosen, config = documents.config(home)
    assert chosen is not None
    assert (chosen.credentials.backend, config.message) == ("file", str(home.config))
    assert documents.accounts(home)[1].message == "1 account"

    home.accounts.write_text("version = 1\n" + ACCOUNT.format(1, "true") + ACCOUNT.format(2, "false"))
    assert documents.accounts(home)[1].message == "2 accounts, 1 disabled"


@pytest.mark.parametrize("data", [b"= 1", b"listen.clude = 1\nlog.level = 7", b"\xff", b"version = 9"])
def test_broken_ones_fail_with_their_place(home: Home, data: bytes) -> None:
    """And with the command that opens them; nothing is used of them."""
    for path, look in ((home.config, documents.config), (home.accounts, documents.accounts)):
        path.write_bytes(data)
        read, found = look(home)
        assert read is None
        assert found.level is Level.FAIL
        assert found.message.startswith(str(path))
        assert found.mend.endswith(str(path))
        assert "\n" not in found.message
        path.unlink()
        path.mkdir()
        assert look(home)[1].level is Level.FAIL
