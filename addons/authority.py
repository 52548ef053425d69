"""Authority: the certificate authority by whose word opened tunnels speak for the vendors.

mitmproxy makes it. Under `flowpool serve` it lives in flowpool's own folder, under mitmdump and mitmweb in the folder that those use
(`confdir`, ~/.mitmproxy). Whoever has its key can speak for any host to who trusts it, so the key is for us alone.
"""

from pathlib import Path

from mitmproxy import ctx
from mitmproxy.options import CONF_BASENAME

from credentials.files import PRIVATE_FOLDER, make_folder

PRIVATE_FILE = 0o600
_OTHERS = 0o077


def prepare(state_folder: Path) -> Path:
    """Return the folder for it, which only we can enter; raises OSError."""
    folder = state_folder / "mitmproxy"
    make_folder(folder)
    _close(folder, PRIVATE_FOLDER)
    for key in (folder / f"{CONF_BASENAME}-ca.pem", folder / f"{CONF_BASENAME}-ca.p12"):
        if key.exists():
            _close(key, PRIVATE_FILE)
    return folder


def certificate(confdir: str) -> Path:
    """Return what a client is given to trust: the certificate without its key."""
    return Path(confdir).expanduser().absolute() / f"{CONF_BASENAME}-ca-cert.pem"


def made(confdir: str) -> Path:
    """Return the same, made if it was not: mitmproxy's own addon does so when it starts, which is after who tells where it is."""
    path = certificate(confdir)
    if not path.exists():
        ctx.master.addons.get("tlsconfig").configure({"confdir"})
    return path


def _close(path: Path, mode: int) -> None:
    if path.stat().st_mode & _OTHERS:
        path.chmod(mode)
