"""The authorities that a client behind our proxy trusts: the proxy's own, and those that the person's network needs."""

import hashlib
from pathlib import Path

from credentials import files
from credentials.errors import FileFault
from flowpool.errors import Failure

_BEGINS = b"-----BEGIN CERTIFICATE-----"


def file_for(own: Path, theirs: str, folder: Path) -> tuple[Path, str]:
    """Return the file to name in NODE_EXTRA_CA_CERTS, and a line for the person, or nothing.

    own: the proxy's certificate. theirs: the file that the variable names already, or nothing; the two become one file in folder, which
    is another for each of theirs. Raises Failure where there is no certificate of the proxy's, and FileFault.
    """
    certificate = files.read(own, private=False)
    if certificate is None or _BEGINS not in certificate:
        raise Failure(f"the proxy's certificate is not in {own}; run: flowpool restart")
    if not theirs:
        return own, ""
    try:
        others = files.read(Path(theirs), private=False)
    except FileFault:
        others = None
    if others is None:
        return own, f"NODE_EXTRA_CA_CERTS names {theirs}, which cannot be read; it is left out"
    together = folder / f"client-ca-{hashlib.sha256(theirs.encode()).hexdigest()[:8]}.pem"
    files.write(together, certificate.rstrip() + b"\n" + others)
    return together, ""
