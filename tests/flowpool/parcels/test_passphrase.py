"""A passphrase comes from a hidden prompt or a file, never from an argument or silently from nowhere."""

from pathlib import Path

import pytest

from credentials.errors import CredentialError
from flowpool.errors import Failure
from flowpool.parcels import passphrase

COMMAND = "flowpool accounts export FILE"


@pytest.mark.parametrize("text", ["correct horse\n", "correct horse\r\nmore\n", "\ufeffcorrect horse"])
def test_the_first_line_counts(tmp_path: Path, text: str) -> None:
    """However its line ends, and whatever follows."""
    file = tmp_path / "words"
    file.write_text(text, encoding="utf-8")

    assert passphrase.ask(file, COMMAND, twice=True) == "correct horse"


@pytest.mark.parametrize("data", [b"", b"\nwords\n", b"\xff\xfe\x00"])
def test_a_file_without_one_is_refused(tmp_path: Path, data: bytes) -> None:
    """The line names the file and not what is in it."""
    file = tmp_path / "words"
    file.write_bytes(data)
    with pytest.raises(Failure, match=f"{file}.*run: "):
        passphrase.ask(file, COMMAND, twice=False)


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    """So is one that cannot be read."""
    with pytest.raises(Failure, match="is not there"):
        passphrase.ask(tmp_path / "words", COMMAND, twice=False)
    with pytest.raises(CredentialError, match="not a plain file"):
        passphrase.ask(tmp_path, COMMAND, twice=False)


def test_a_new_one_must_be_long(tmp_path: Path) -> None:
    """A short one is refused when something is sealed with it, not when something is opened."""
    file = tmp_path / "words"
    file.write_text("1234567")
    with pytest.raises(Failure, match="at least 8 characters"):
        passphrase.ask(file, COMMAND, twice=True)

    assert passphrase.ask(file, COMMAND, twice=False) == "1234567"
