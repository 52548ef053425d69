"""A parcel: bytes sealed with a passphrase, as text that can be stored or sent anywhere.

    {"flowpool": "parcel", "version": 1, "salt": …, "nonce": …}     one line, which is authenticated as well
    base64 of the ciphertext                                        the other lines

The key is scrypt's (n 2**15, r 8, p 1: 32 MiB and a tenth of a second for each guess), the cipher AES-256-GCM. A version stands
for all of these numbers: none of them is read from a file.
"""

import base64
import binascii
import json
import os
import unicodedata
from typing import NoReturn

from credentials.errors import BadParcel

VERSION = 1
MARK = "parcel"
COST, BLOCK, LANES = 2**15, 8, 1
SALT, NONCE, KEY = 16, 12, 32  # bytes
WIDTH = 76  # letters of a line
SHORTEST = 8  # letters of a passphrase
AGAIN = "flowpool accounts import FILE"


def seal(content: bytes, passphrase: str) -> bytes:
    """Return the content as a parcel that only the passphrase opens."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415  # 40 ms that few commands need

    salt, nonce = os.urandom(SALT), os.urandom(NONCE)
    head = {"flowpool": MARK, "version": VERSION, "salt": _text(salt), "nonce": _text(nonce)}
    line = json.dumps(head).encode()
    body = _text(AESGCM(_key(passphrase, salt)).encrypt(nonce, content, line))
    lines = [body[start : start + WIDTH].encode() for start in range(0, len(body), WIDTH)]
    return b"\n".join([line, *lines, b""])


def unseal(parcel: bytes, passphrase: str) -> bytes:
    """Return what is in a parcel; raise BadParcel, which says what is wrong and quotes nothing of it."""
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

    line, _, rest = parcel.replace(b"\r\n", b"\n").partition(b"\n")
    salt, nonce = _head(line)
    body = _bytes(b"".join(rest.split()).decode("ascii", "replace"))
    try:
        return AESGCM(_key(passphrase, salt)).decrypt(nonce, body, line)
    except InvalidTag:
        raise BadParcel("the passphrase is wrong, or the file is damaged; nothing was changed", AGAIN) from None


def _head(line: bytes) -> tuple[bytes, bytes]:
    """Read the first line: salt and nonce."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    match found:
        case {"flowpool": "parcel", "version": int(version)} if version > VERSION:
            raise BadParcel(f"the file was written by a newer flowpool (version {version})", "flowpool --version")
        case {"flowpool": "parcel", "version": 1, "salt": str(salt), "nonce": str(nonce)}:
            parts = _bytes(salt), _bytes(nonce)
        case _:
            raise BadParcel("this is no file that `flowpool accounts export` wrote", AGAIN)
    if (len(parts[0]), len(parts[1])) != (SALT, NONCE):
        _damaged()
    return parts


def _key(passphrase: str, salt: bytes) -> bytes:
    """Derive the key; a letter that systems write in two ways counts as one."""
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt  # noqa: PLC0415

    kdf = Scrypt(salt=salt, length=KEY, n=COST, r=BLOCK, p=LANES)
    return kdf.derive(unicodedata.normalize("NFC", passphrase).encode("utf-8", "surrogatepass"))


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        _damaged()


def _damaged() -> NoReturn:
    raise BadParcel("the file is damaged; nothing was changed", AGAIN) from None
