"""Claude Code's own files, as far as they bend what the pool does: its settings, its login and whose login that is.

Where they are is home.clientlogin's; a keychain is not asked, because it would ask a person.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from credentials import files
from credentials.credential import OAUTH, Credential, parse
from credentials.errors import CredentialError
from home import clientlogin
from home.clientlogin import ClientLogin, Place
from home.errors import HomeError
from routing.words import Identity


def settings(place: Place) -> Path:
    """Return where a person's settings are."""
    return place.file.parent / "settings.json"


def read(path: Path) -> dict[str, Any] | None:
    """Return a file's object; {} when there is none, None when it cannot be read or is no object."""
    try:
        data = files.read(path, private=False)
        found = {} if data is None else json.loads(data)
    except (CredentialError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def login(place: Place) -> tuple[Credential, Identity] | None:
    """Return the client's own login and whose it is, None when there is none in a file that can be read."""
    try:
        found = clientlogin.read(replace(place, item=None))
        return (parse(OAUTH, found.text.reveal()), _whose(found)) if found else None
    except (CredentialError, HomeError):
        return None


def _whose(found: ClientLogin) -> Identity:
    owner, organization = (str(found.owner.get(key) or "") for key in ("accountUuid", "organizationUuid"))
    return Identity(owner=owner, organization=organization)
