"""The way out that is set: what it is, and a bundle that cannot be used, which is said with the setting's name."""

import stat
from pathlib import Path

import pytest

from credentials.way import DIRECT, Way
from home import outbound
from home.checks import Address
from home.errors import SettingsError
from home.tables import Listen, Outbound, Settings
from tests.upstream.authority import Authority

CONFIG = Path("/home/ann/config.toml")


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """One for all tests of this file."""
    return Authority(tmp_path_factory.mktemp("authority"))


def test_the_way_is_what_is_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing set is the straight way; ~ is the person's own folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert outbound.way(Outbound()) == DIRECT
    assert outbound.way(Outbound(proxy="http://10.0.0.1:3128", ca_bundle="~/ca.pem")) == Way(
        proxy="http://10.0.0.1:3128", ca_bundle=str(tmp_path / "ca.pem")
    )


def test_without_a_bundle_the_usual_file_is_taken(tmp_path: Path) -> None:
    """Nothing is written, and nothing can be wrong."""
    usual = tmp_path / "usual.pem"
    assert outbound.gather(tmp_path, CONFIG, Outbound(proxy="http://10.0.0.1:3128"), usual) == usual
    outbound.check(CONFIG, Settings())
    assert list(tmp_path.iterdir()) == []


def test_a_bundle_stands_behind_the_usual_authorities(tmp_path: Path, authority: Authority) -> None:
    """In one file for our eyes, written anew each time, so that authorities that were taken out are gone."""
    usual = tmp_path / "usual.pem"
    usual.write_bytes(b"usual")
    chosen = Outbound(ca_bundle=str(authority.bundle))
    made = outbound.gather(tmp_path, CONFIG, chosen, usual)
    assert made.read_bytes() == b"usual\n" + authority.bundle.read_bytes()
    made.chmod(0o644)
    usual.write_bytes(b"newer")
    assert outbound.gather(tmp_path, CONFIG, chosen, usual).read_bytes().startswith(b"newer\n")
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["authorities.pem", "usual.pem"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "cannot be read: No such file"),
        (b"", "is no PEM file"),
        (b"hello", "is no PEM file"),
        (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "is no PEM file"),
        (b"\xff\xfe\x00", "is no PEM file"),
    ],
)
def test_a_bundle_that_cannot_be_used_is_said_with_its_setting(tmp_path: Path, text: bytes | None, says: str) -> None:
    """The file, what is wrong with it, and 2."""
    path = tmp_path / "ca.pem"
    if text is not None:
        path.write_bytes(text)
    chosen = Outbound(ca_bundle=str(path))
    for use in (
        lambda: outbound.check(CONFIG, Settings(outbound=chosen)),
        lambda: outbound.gather(tmp_path, CONFIG, chosen, tmp_path / "usual"),
    ):
        with pytest.raises(SettingsError) as caught:
            use()
        assert str(caught.value).startswith(f"{CONFIG}: outbound.ca_bundle: {path} {says}")
        assert caught.value.exit_code == 2


def test_a_folder_and_nobodys_home_are_no_bundle(tmp_path: Path) -> None:
    """They cannot be read."""
    for wrong in (str(tmp_path), "~nobody-of-that-name/ca.pem"):
        with pytest.raises(SettingsError, match=r"outbound\.ca_bundle: .* cannot be read"):
            outbound.check(CONFIG, Settings(outbound=Outbound(ca_bundle=wrong)))


def test_usual_authorities_that_are_missing_are_said(tmp_path: Path, authority: Authority) -> None:
    """As while a program is being upgraded."""
    with pytest.raises(SettingsError, match=r"usual\.pem, with the usual authorities, cannot be read"):
        outbound.gather(tmp_path, CONFIG, Outbound(ca_bundle=str(authority.bundle)), tmp_path / "usual.pem")


@pytest.mark.parametrize(
    ("proxy", "is_ours"),
    [
        ("http://127.0.0.1:3456", True),
        ("http://localhost:3456", True),
        ("http://[::1]:3458", True),
        ("http://10.0.0.1:3456", False),
        ("http://127.0.0.1:3128", False),
        ("", False),
    ],
)
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_flowpool_is_not_its_own_way_out(proxy: str, is_ours: bool, host: str) -> None:
    """Each request would come back to it; neither of its addresses is a proxy of the network."""
    listen = Listen(claude=Address(host=host, port=3456), forward=Address(host="127.0.0.1", port=3458))
    chosen = Settings(listen=listen, outbound=Outbound(proxy=proxy))
    if not is_ours:
        outbound.check(CONFIG, chosen)
        return
    with pytest.raises(SettingsError, match=r"outbound\.proxy: is where flowpool itself listens"):
        outbound.check(CONFIG, chosen)
