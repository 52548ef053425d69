"""A link that nobody starts who types its name is told, with the line that the PATH needs."""

from pathlib import Path

import pytest

from flowpool.findings.finding import Level
from flowpool.findings.link import link
from flowpool.launch.binary import MARKER
from home.paths import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with a link."""
    home = Home(config_folder=tmp_path / "home", state_folder=tmp_path / "home")
    program(home.link, f"#!/bin/sh\n# {MARKER.decode()}\n")
    return home


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    """Write a program."""
    path.parent.mkdir(parents=True)
    path.write_text(text)
    path.chmod(0o700)
    return path


def test_without_a_link_nothing_is_said(home: Home) -> None:
    """Nobody needs one; what is somebody else's is none of ours."""
    home.link.write_text("#!/bin/sh\n")
    assert link(home, {"PATH": "/bin"}) == []
    home.link.unlink()
    assert link(home, {}) == []


def test_first_on_the_path_it_is_well(home: Home, tmp_path: Path) -> None:
    """Whatever comes behind it."""
    real = program(tmp_path / "real" / "claude")
    (found,) = link(home, {"PATH": f"{home.link.parent}:{real.parent}"})

    assert (found.level, found.mend) == (Level.OK, "")


@pytest.mark.parametrize("path", ["{real}", "{real}:{link}", "/nowhere"])
def test_a_link_that_is_gone_past_is_told(home: Home, tmp_path: Path, path: str) -> None:
    """With whoever is started instead."""
    real = program(tmp_path / "real" / "claude")
    given = path.format(real=real.parent, link=home.link.parent)
    (found,) = link(home, {"PATH": given, "SHELL": "/bin/bash"})

    assert (found.level, found.mend) == (Level.WARN, f'export PATH={home.link.parent}:"$PATH"')
    assert found.message.startswith(f"{home.link} is written, but `claude` is ")
    assert (f"{real} here, which goes past the pool" in found.message) is (path != "/nowhere")
