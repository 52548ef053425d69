"""The copy of a login that another program keeps and renews too: Claude Code's .credentials.json."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from credentials.credential import OAUTH, Credential, parse
from credentials.errors import CredentialError
from home import clientlogin
from routing.words import Account, Identity


def read(account: Account) -> Credential | None:
    """Return what the account's source holds now; None when it has none, it cannot be read, or it is somebody else's by now."""
    if not account.source:
        return None
    try:
        found = clientlogin.read(clientlogin.of_file(Path(account.source).expanduser()))
        if found is None or account.identity.contradicts(_identity(found.owner)):
            return None
        return parse(OAUTH, found.text.reveal())
    except (CredentialError, OSError, RuntimeError):  # RuntimeError: a tilde with the name of nobody
        return None


def _identity(owner: Mapping[str, Any]) -> Identity:
    """Return whose login Claude Code says that this is, as far as it does."""
    person, organization = owner.get("accountUuid"), owner.get("organizationUuid")
    return Identity(
        owner=person if isinstance(person, str) else "",
        organization=organization if isinstance(organization, str) else "",
    )
