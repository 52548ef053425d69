"""A keyring in a file of its own, which several programs of a test share; it can kill the one that calls it."""

from pathlib import Path

from tests.flowpool.cli import ROOT

RING = """
import json, os, signal
from pathlib import Path
from keyring.backend import KeyringBackend
PATH, CALLS = (Path(__file__).with_name(name) for name in ("ring.json", "calls"))
class Ring(KeyringBackend):
    priority = 5
    def _kept(self):
        with CALLS.open("a") as calls: print(file=calls)
        if len(CALLS.read_text()) == int(os.environ.get("DIES_AT", "0")): os.kill(os.getpid(), signal.SIGKILL)
        return json.loads(PATH.read_text()) if PATH.exists() else {}
    def get_password(self, service, username): return self._kept().get(username)
    def set_password(self, service, username, password): PATH.write_text(json.dumps(self._kept() | {username: password}))
    def delete_password(self, service, username):
        kept = self._kept()
        del kept[username]
        PATH.write_text(json.dumps(kept))
"""


def install(folder: Path) -> dict[str, str]:
    """Put it there; return the variables by which a program finds it. Its entries are in ring.json, as JSON by their users."""
    (folder / "testring.py").write_text(RING)
    return {"PYTHON_KEYRING_BACKEND": "testring.Ring", "PYTHONPATH": f"{ROOT}:{folder}"}
