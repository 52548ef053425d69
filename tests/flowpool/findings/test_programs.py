"""Programs that are missing, too old, slow or strange are told apart."""

import re
from importlib import metadata
from pathlib import Path

import pytest

from flowpool.findings import programs
from flowpool.findings.finding import Level

ROOT = Path(__file__).parents[3]
PROJECT = (ROOT / "pyproject.toml").read_text()


@pytest.mark.parametrize(
    ("found", "level"), [((3, 11, 9), Level.FAIL), ((3, 12, 0), Level.OK), ((3, 14, 1), Level.OK), ((4, 0), Level.OK)]
)
def test_python_must_be_new_enough(found: tuple[int, ...], level: Level) -> None:
    """As the package itself demands."""
    assert programs.python(found).level is level
    assert f'requires-python = ">={".".join(map(str, programs.LEAST_PYTHON))}"' in PROJECT


VERSIONS = [
    ("12.2.2", Level.FAIL),
    ("9.0", Level.FAIL),
    ("12.2.3", Level.OK),
    ("12.10.0", Level.OK),
    ("12.9.0.dev1", Level.OK),
    ("13.0.0", Level.WARN),
    ("unknown", Level.FAIL),
]


@pytest.mark.parametrize(("version", "level"), VERSIONS)
def test_mitmproxy_must_be_of_the_right_age(version: str, level: Level, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bounds are those that the package itself demands."""
    monkeypatch.setattr(metadata, "version", lambda _: version)
    found = programs.mitmproxy()

    assert found.level is level
    assert bool(found.mend) is (level is not Level.OK)
    bounds = (".".join(map(str, bound)) for bound in (programs.LEAST_MITMPROXY, programs.NEXT_MITMPROXY))
    assert '"mitmproxy>={},<{}"'.format(*bounds) in PROJECT
    assert (
        "'mitmproxy>={},<{}'".format(
            *(".".join(map(str, bound)) for bound in (programs.LEAST_MITMPROXY, programs.NEXT_MITMPROXY))
        )
        == programs.MITMPROXY
    )


def test_without_mitmproxy_its_installation_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """It fails, with the command."""

    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    found = programs.mitmproxy()
    assert (found.level, found.message) == (Level.FAIL, "it is not installed beside flowpool")
    assert re.search(r"-m pip install 'mitmproxy", found.mend)


SAYS = [  # what the program does, the level, what is told
    ("echo '2.1.332 (Claude Code)'", Level.OK, "2.1.332 (Claude Code) ("),
    ("echo; echo", Level.WARN, "ended with 0 and said no version"),
    ("echo 1.0; exit 3", Level.WARN, "ended with 3 and said no version"),
    ("printf '\\033[31m1.0\\033[0m\\n'", Level.OK, " [31m1.0 [0m ("),
    ("echo sk-ant-oat01-PLANTED-in-a-version", Level.OK, "[masked] ("),
    ("head -c 100000 /dev/zero | tr '\\0' x", Level.OK, "x" * 60 + " ("),
    ("exec sleep 30", Level.WARN, "did not say its version within 0.3 s"),
]


@pytest.mark.parametrize(("does", "level", "says"), SAYS, ids=range(len(SAYS)))
def test_a_client_is_asked_for_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str, level: Level, says: str
) -> None:
    """In bounded time, on one line that is fit for a screen."""
    program = tmp_path / "claude"
    program.write_text(f"#!/bin/sh\n{does}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    if "sleep" in does:
        monkeypatch.setattr(programs, "PATIENCE", 0.3)
    found = programs.client("claude")

    assert (found.level, says in found.message) == (level, True), found
    assert "PLANTED" not in found.message
    assert "\033" not in found.message


def test_a_client_that_is_not_there_or_cannot_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither is a failure: the pool works without it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (programs.client("claude").level, programs.client("codex").mend) == (Level.SKIP, "")
    (tmp_path / "claude").write_bytes(b"\x7fELF nonsense")
    (tmp_path / "claude").chmod(0o755)

    assert programs.client("claude").level is Level.WARN
