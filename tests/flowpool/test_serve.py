"""serve checks first; mitmdump and mitmweb become mitmproxy's programs."""

import sys
from pathlib import Path

import pytest

from flowpool import serve
from flowpool.errors import Failure
from tests.flowpool.cli import ROOT, Shell


def test_the_program_is_this_environments_mitmdump(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter comes first, so that orig_argv can start the same again."""
    monkeypatch.setattr(serve, "_pool", lambda: Path("/x/addons/pool.py"))

    for program in ("mitmdump", "mitmweb"):
        path = str(Path(sys.executable).parent / program)
        assert serve.command(program) == [sys.executable, path, "-s", "/x/addons/pool.py"]


def test_the_addons_are_found_without_importing_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """pool.py is found in the package's folder; a missing one is said."""
    monkeypatch.setattr(Path, "is_file", lambda path: path == ROOT / "addons" / "pool.py")
    assert serve._pool() == ROOT / "addons" / "pool.py"

    monkeypatch.setattr(Path, "is_file", lambda _: False)
    with pytest.raises(Failure, match="install flowpool again"):
        serve._pool()


def test_a_missing_mitmdump_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An environment without mitmproxy is one clear failure."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))

    with pytest.raises(Failure, match="mitmdump is not beside"):
        serve.command("mitmdump")


@pytest.mark.parametrize("program", ["serve", "mitmdump", "mitmweb"])
@pytest.mark.parametrize(
    ("name", "text", "code"), [("config.toml", "x = 1", 2), ("accounts.toml", "x = 1", 2), ("secrets.json", "{", 1)]
)
def test_nothing_starts_with_wrong_files(shell: Shell, program: str, name: str, text: str, code: int) -> None:
    """A wrong file is said before anything listens."""
    shell.home.mkdir()
    (shell.home / name).touch(0o600)
    (shell.home / name).write_text(text)
    err = shell.run(program, code=code).stderr

    assert err.count("\n") == 1
    assert name in err
