"""control.key: what a program of the same user shows to speak with the running proxy."""

import base64
import os
import re
from pathlib import Path

from credentials import files
from credentials.secret import Secret
from home.errors import ControlKeyError

LENGTH = 32  # random bytes

_KEY = re.compile(r"[A-Za-z0-9_-]{43,128}")


def ensure(path: Path) -> Secret:
    """Return the key, made now if there is none; two processes at once get the same.

    Raises FileFault (other users can read it, the disk is full) and ControlKeyError (it holds no key).
    """
    key = read(path)
    if key is None:
        files.create(path, base64.urlsafe_b64encode(os.urandom(LENGTH)).rstrip(b"=") + b"\n")
        key = read(path)
    if key is None:
        raise ControlKeyError(path)
    return key


def read(path: Path) -> Secret | None:
    """Return the key, None when there is none; raises like ensure."""
    data = files.read(path, private=True)
    if data is None:
        return None
    text = data.decode("ascii", "replace").strip()
    if not _KEY.fullmatch(text):
        raise ControlKeyError(path)
    return Secret(text)
