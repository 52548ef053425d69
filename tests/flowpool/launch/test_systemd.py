"""A unit says what it is to say, whatever the paths are."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpool.launch import systemd
from flowpool.launch.program import Program

SHELL = """/bin/sh -c 'exec "$$0" "$$@"' """
VARIABLES = st.dictionaries(
    st.sampled_from(["FLOWPOOL_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR"]),
    st.text(st.characters(exclude_characters="\0")),
)


def program(python: str = "/opt/flowpool/bin/python", **more: str) -> Program:
    """A program as a service runs it."""
    return Program(python=python, stop_s=75, log=Path("/unused"), environment=more)


def test_it_is_this_text() -> None:
    """All of it, for a person to look at."""
    assert systemd.unit(program(FLOWPOOL_HOME="/home/ann/my pool")).decode() == (
        f"""{systemd.MARK}
[Unit]
Description=flowpool: your coding accounts behind one local address
StartLimitIntervalSec=120
StartLimitBurst=10

[Service]
Type=notify
NotifyAccess=all
Environment="FLOWPOOL_HOME=/home/ann/my pool"
ExecStart="/opt/flowpool/bin/python" -P -m flowpool serve
ExecReload="/opt/flowpool/bin/python" -P -m flowpool restart
Restart=on-failure
RestartSec=1
TimeoutStopSec=75
KillMode=mixed

[Install]
WantedBy=default.target
"""
    )


@given(variables=VARIABLES)
def test_what_it_sets_is_read_again(variables: dict[str, str]) -> None:
    """Whatever is in them, line by line."""
    text = systemd.unit(program(**variables))

    assert systemd.environment(text) == variables
    assert len(text.splitlines()) == 18 + len(variables)


def test_bytes_that_are_no_text_survive() -> None:
    """A path may hold any of them."""
    odd = os.fsdecode(b"/home/ann/\xff\x07")
    text = systemd.unit(program(FLOWPOOL_HOME=odd))

    assert b"/home/ann/\\xff\\x07" in text
    assert systemd.environment(text) == {"FLOWPOOL_HOME": odd}


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("/a b/python", '"/a b/python" -P'),
        ("/50%/python", '"/50%%/python" -P'),
        ('/"q"/python', SHELL + '"/\\"q\\"/python" -P'),
        ("/back\\slash/python", SHELL + '"/back\\\\slash/python" -P'),
        ("/us$r/python", SHELL + '"/us$$r/python" -P'),
    ],
)
def test_paths_are_quoted_by_systemds_rules(path: str, line: str) -> None:
    """What systemd does not run by its path is given to a shell."""
    assert systemd.command(path, "serve") == f"{line} -m flowpool serve"


def test_a_unit_of_somebody_else_is_none_of_ours() -> None:
    """The first line tells."""
    assert systemd.environment(b"[Unit]\nDescription=mine\n") is None


def test_only_what_starts_it_needs_a_restart() -> None:
    """How long it may drain is the manager's own business."""
    unit = systemd.unit(program())

    assert not systemd.needs_restart(unit, unit.replace(b"TimeoutStopSec=75", b"TimeoutStopSec=15"))
    assert systemd.needs_restart(unit, systemd.unit(program("/elsewhere/python")))
    assert systemd.needs_restart(unit, systemd.unit(program(FLOWPOOL_HOME="/b")))


def verify(unit: Path) -> subprocess.CompletedProcess[str]:
    """What systemd itself says of a unit."""
    if shutil.which("systemd-analyze") is None:
        if os.environ.get("FLOWPOOL_SYSTEMD") == "required":
            pytest.fail("there is no systemd-analyze: apt-get install -y systemd")
        pytest.skip("needs systemd-analyze: apt-get install -y systemd")
    environ = {"PATH": os.environ["PATH"], "HOME": str(unit.parent), "XDG_RUNTIME_DIR": str(unit.parent)}
    line = ["systemd-analyze", "verify", "--user", "--man=no", "--generators=no", str(unit)]
    return subprocess.run(line, env=environ, capture_output=True, text=True, timeout=60, check=False)


def test_systemd_has_nothing_against_it(tmp_path: Path) -> None:
    """Of a home and an interpreter whose paths have all that needs quoting; what is wrong would be said."""
    folder = tmp_path / 'it\'s "50%h" $HOME \\n;é'
    folder.mkdir()
    python = folder / "python"
    python.symlink_to(sys.executable)
    unit = tmp_path / "flowpool.service"
    unit.write_bytes(systemd.unit(program(str(python), FLOWPOOL_HOME=str(folder))))
    done = verify(unit)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    unit.write_text(re.sub(r"^ExecStart=.*", "ExecStart=/gone/python", unit.read_text(), flags=re.MULTILINE))
    assert "/gone/python" in verify(unit).stderr
