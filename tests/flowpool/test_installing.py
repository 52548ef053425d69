"""How flowpool is installed is told with the place where it is."""

import json
from importlib import metadata
from pathlib import Path

import pytest

from flowpool import installing

ROOT = Path(__file__).parents[2]


class Installed:
    """A distribution whose installer noted this."""

    def __init__(self, noted: str | None) -> None:
        self.noted = noted

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return self.noted


@pytest.fixture(autouse=True)
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def noted(monkeypatch: pytest.MonkeyPatch, text: str | None) -> None:
    """Let the installer have noted this."""
    monkeypatch.setattr(metadata, "distribution", lambda _: Installed(text))


def program(folder: Path, name: str) -> None:
    """Put a program there."""
    (folder / name).touch(mode=0o755)


def checkout(folder: Path) -> Path:
    """Make what can be installed."""
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    return folder


@pytest.mark.parametrize("is_editable", [True, False])
def test_it_is_the_checkout_that_it_came_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_editable: bool
) -> None:
    """Quoted for a shell, also where it was copied."""
    source = checkout(tmp_path / "my pool")
    noted(monkeypatch, json.dumps({"url": source.as_uri(), "dir_info": {"editable": is_editable}}))

    assert installing.command() == f"uv tool install '{source}'"
    assert installing.command("--python", "3.13") == f"uv tool install --python 3.13 '{source}'"


def test_a_file_can_be_installed_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wheel that still lies there."""
    wheel = tmp_path / "flowpool-1-py3-none-any.whl"
    wheel.touch()
    noted(monkeypatch, json.dumps({"url": wheel.as_uri(), "archive_info": {}}))

    assert installing.command() == f"uv tool install {wheel}"


@pytest.mark.parametrize(
    ("programs", "named"), [(("pipx",), "pipx install"), (("pipx", "uv"), "uv tool install"), ((), "uv tool install")]
)
def test_the_program_that_is_there_is_named(bin_folder: Path, programs: tuple[str, ...], named: str) -> None:
    """Both do it."""
    for name in programs:
        program(bin_folder, name)

    assert installing.command() == f"{named} {ROOT}"


NOTES = [
    None,
    "",
    "{",
    "[]",
    "{}",
    '{"url": 3}',
    '{"url": "file:///gone/away"}',
    '{"url": "https://u:secret@x.example/y"}',
]


@pytest.mark.parametrize("text", NOTES)
def test_what_cannot_be_known_is_left_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None) -> None:
    """Where it runs without a checkout, and none is noted that is still there."""
    noted(monkeypatch, text)
    assert installing.command() == f"uv tool install {ROOT}"
    monkeypatch.setattr(installing, "__file__", str(tmp_path / "site-packages" / "flowpool" / "installing.py"))

    assert installing.command() == "uv tool install /path/to/the/checkout"


def test_one_that_was_never_installed_runs_in_its_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no note then."""

    def missing(name: str) -> metadata.Distribution:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    assert installing.command() == f"uv tool install {ROOT}"
