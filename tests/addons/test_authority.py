"""The authority's key is for us alone."""

import stat
from pathlib import Path

from addons.authority import certificate, prepare


def mode(path: Path) -> int:
    """A path's permissions."""
    return stat.S_IMODE(path.stat().st_mode)


def test_the_folder_is_made_for_us_alone(tmp_path: Path) -> None:
    """And made only once."""
    folder = prepare(tmp_path)
    assert (folder, mode(folder)) == (tmp_path / "mitmproxy", 0o700)
    assert prepare(tmp_path) == folder


def test_what_others_could_read_is_closed(tmp_path: Path) -> None:
    """A folder and keys of an earlier version; the certificate, which is no secret, stays as it is."""
    folder = tmp_path / "mitmproxy"
    folder.mkdir(mode=0o755)
    for name in ("mitmproxy-ca.pem", "mitmproxy-ca.p12", "mitmproxy-ca-cert.pem"):
        (folder / name).write_text("x")
        (folder / name).chmod(0o644)
    prepare(tmp_path)
    assert mode(folder) == 0o700
    assert {path.name: mode(path) for path in folder.iterdir()} == {
        "mitmproxy-ca.pem": 0o600,
        "mitmproxy-ca.p12": 0o600,
        "mitmproxy-ca-cert.pem": 0o644,
    }


def test_the_certificate_stands_in_the_folder_that_mitmproxy_uses() -> None:
    """However that is written."""
    assert certificate("~/.mitmproxy") == Path.home() / ".mitmproxy" / "mitmproxy-ca-cert.pem"
    assert certificate("/x/y") == Path("/x/y/mitmproxy-ca-cert.pem")
