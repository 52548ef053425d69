"""Whether this person's Claude Code has a login of its own."""

import json
import sys
from collections.abc import Mapping

from credentials import files
from credentials.errors import FileFault
from flowpool.launch.environment import TOKEN
from home import clientlogin, keychain
from home.keychain import KeychainError

PATIENCE = 2.0  # seconds for the keychain to say whether it has an item


def has_login(variables: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Tell whether it has one; True also where that cannot be told, for then it is not ours to replace."""
    if variables.get(TOKEN):
        return True
    place = clientlogin.usual(variables, platform)
    try:
        if place.item and keychain.has(place.item, PATIENCE):
            return True
        data = files.read(place.file, private=False)
    except (KeychainError, FileFault):
        return True
    return data is not None and _is_login(data)


def _is_login(data: bytes) -> bool:
    """Tell whether the file holds one: what is left of a logout keeps the logins of other services."""
    try:
        return bool(json.loads(data)["claudeAiOauth"]["accessToken"])
    except (KeyError, TypeError):
        return False
    except (ValueError, RecursionError):
        return True
