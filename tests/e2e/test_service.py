"""The service with a real systemd: one user manager for this test alone, in namespaces of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.flowpool.cli import ROOT
from tests.upstream import closed_port

NO_MANAGER = 77  # what tools/with-systemd ends with where it can start none


def test_a_service_from_its_start_to_its_end(tmp_path: Path) -> None:
    """It is ready when it answers, starts again when it is killed, is handed over by a reload, and leaves nothing."""
    home, temporary = tmp_path / "pool with a blank", tmp_path / "temporary"
    for folder in (home, temporary):
        folder.mkdir()
    listen = f"127.0.0.1:{closed_port()}"
    upstream = f"http://127.0.0.1:{closed_port()}"
    (home / "config.toml").write_text(f'listen.claude = "{listen}"\nproviders.anthropic.upstream = "{upstream}"\n')
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "FLOWPOOL_HOME": str(home),
        "TMPDIR": str(temporary),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
    }
    done = subprocess.run(
        [ROOT / "tools" / "with-systemd", sys.executable, "-m", "tests.serviced"],
        env=environ,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode == NO_MANAGER and os.environ.get("FLOWPOOL_SYSTEMD") != "required":
        pytest.skip("needs root, namespaces and systemd: apt-get install -y systemd")
    assert done.returncode == 0, done.stderr

    unit = tmp_path / "config" / "systemd" / "user" / "flowpool.service"
    seen = json.loads(done.stdout)
    answers = f"the proxy answers at {listen}; to see how it does: flowpool service status\n"
    assert seen["installed"] == f"{unit}: installed\n{answers}"
    assert seen["status"].startswith(f"installed  {unit}\nenabled    yes\nrunning    yes, pid ")
    assert (seen["restarts"], seen["killed"]) == ("1", True)
    assert seen["reloaded"] == ["active", "1"]
    assert (seen["again"], seen["same"]) == (f"{unit}: unchanged\n{answers}", True)
    assert seen["doctor"][0].startswith("ok    service ")
    assert seen["uninstalled"] == f"stopped the service, which systemd starts no more\nremoved {unit}\n"
    assert seen["left"] == ["not-found", None, False]
    assert not [path for path in (tmp_path / "config").rglob("*") if not path.is_dir()]
    assert list(temporary.iterdir()) == []
