"""Claude Code's own login, where Claude Code keeps it. It is read and never written.

Fact: docs/facts/claude-code.md#where-it-keeps-its-login.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from credentials import files
from credentials.errors import FileFault
from credentials.secret import Secret
from home import keychain

VARIABLE = "CLAUDE_CONFIG_DIR"
LOGIN, FACTS = ".credentials.json", ".claude.json"
DARWIN = "darwin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where one login is kept.

    file: the login. facts: what Claude Code remembers of whose it is; None where that may be another's.
    item: the keychain's item that comes before the file; None where there is no keychain.
    """

    file: Path
    facts: Path | None
    item: str | None = None

    def __str__(self) -> str:
        return f'the keychain item "{self.item}" or {self.file}' if self.item else str(self.file)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientLogin:
    """What was found. text: JSON. owner: Claude Code's oauthAccount. file: None when it came from the keychain."""

    text: Secret
    owner: Mapping[str, Any] = field(default_factory=dict)
    file: Path | None = None


def usual(environ: Mapping[str, str], platform: str = sys.platform) -> Place:
    """Return where this person's Claude Code keeps its login."""
    if given := environ.get(VARIABLE):
        return of_folder(Path(given), platform)
    item = keychain.service() if platform == DARWIN else None
    return Place(file=Path.home() / ".claude" / LOGIN, facts=Path.home() / FACTS, item=item)


def of_folder(folder: Path, platform: str = sys.platform) -> Place:
    """Return where a Claude Code keeps it whose CLAUDE_CONFIG_DIR this is."""
    item = keychain.service(folder) if platform == DARWIN else None
    return Place(file=folder / LOGIN, facts=folder / FACTS, item=item)


def of_file(file: Path) -> Place:
    """Return what is to be read of a file that somebody names; whose it is stands beside it, or nowhere."""
    folder = file.parent
    is_usual = folder.absolute() == Path.home() / ".claude" and not (folder / FACTS).exists()
    beside = (Path.home() if is_usual else folder) / FACTS
    return Place(file=file, facts=beside if file.name == LOGIN else None)


def read(place: Place) -> ClientLogin | None:
    """Return the login, None when there is none. Raises KeychainError, Unreadable."""
    owner = _owner(place.facts) if place.facts else {}
    if place.item and (text := keychain.read(place.item)):
        return ClientLogin(text=text, owner=owner)
    data = files.read(place.file, private=False)
    if data is None:
        return None
    return ClientLogin(text=Secret(data.decode("utf-8-sig", "replace")), owner=owner, file=place.file.absolute())


def _owner(path: Path) -> Mapping[str, Any]:
    """Return what is remembered of whose the login is; nothing when that cannot be read."""
    try:
        found = json.loads(files.read(path, private=False) or b"{}")
    except (FileFault, ValueError, RecursionError):
        return {}
    owner = found.get("oauthAccount") if isinstance(found, dict) else None
    return owner if isinstance(owner, dict) else {}
