"""The authorities of a client behind our proxy."""

import stat
from pathlib import Path

import pytest

from flowpool.errors import Failure
from flowpool.launch.bundle import file_for

OWN = b"-----BEGIN CERTIFICATE-----\nb3du\n-----END CERTIFICATE-----\n"
THEIRS = b"# corp\n-----BEGIN CERTIFICATE-----\ndGhlaXJz\n-----END CERTIFICATE-----"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The proxy's certificate."""
    path = tmp_path / "mitmproxy-ca-cert.pem"
    path.write_bytes(OWN)
    return path


def test_alone_it_is_the_proxys_own(own: Path, tmp_path: Path) -> None:
    """Nothing is written for it."""
    assert file_for(own, "", tmp_path / "state") == (own, "")
    assert not (tmp_path / "state").exists()


def test_with_the_persons_both_are_trusted(own: Path, tmp_path: Path) -> None:
    """In one file that is ours alone; another one of theirs gets another, and none of them changes theirs."""
    corp, other = tmp_path / "corp.pem", tmp_path / "other.pem"
    corp.write_bytes(THEIRS)
    other.write_bytes(OWN)
    path, note = file_for(own, str(corp), tmp_path)

    assert (path.read_bytes(), note) == (OWN + THEIRS, "")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert file_for(own, str(corp), tmp_path) == (path, "")
    assert file_for(own, str(other), tmp_path)[0] != path
    assert corp.read_bytes() == THEIRS


def test_what_cannot_be_read_is_left_out_and_told(own: Path, tmp_path: Path) -> None:
    """Claude Code alone would warn of it, and go on."""
    for theirs in (tmp_path / "gone.pem", tmp_path):
        path, note = file_for(own, str(theirs), tmp_path)
        assert path == own
        assert str(theirs) in note


@pytest.mark.parametrize("content", [None, b"", b"-----BEGIN PRIVATE KEY-----"])
def test_without_the_proxys_certificate_nothing_is_started(tmp_path: Path, content: bytes | None) -> None:
    """The client would trust nobody."""
    own = tmp_path / "ca.pem"
    if content is not None:
        own.write_bytes(content)

    with pytest.raises(Failure, match="flowpool restart"):
        file_for(own, "", tmp_path)
