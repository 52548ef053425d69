"""Where flowpool keeps its files."""

import errno
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from credentials.files import make_folder
from home.errors import FolderError, RelativeHomeError

VARIABLE = "FLOWPOOL_HOME"


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """The folders of one pool.

    config_folder: what a person edits or may keep among their dotfiles. state_folder: what must not leave the machine.
    """

    config_folder: Path
    state_folder: Path

    @classmethod
    def find(cls, environ: Mapping[str, str]) -> Self:
        """Return FLOWPOOL_HOME for everything, else the platform's folders; nothing is made or read. Raises HomeError."""
        if given := environ.get(VARIABLE):
            try:
                folder = Path(given).expanduser()
            except RuntimeError as error:  # ~somebody, and there is no such user
                raise FolderError(Path(given), FileNotFoundError(errno.ENOENT, "no such user")) from error
            if not folder.is_absolute():
                raise RelativeHomeError(given)
            return cls(config_folder=folder, state_folder=folder)
        import platformdirs  # noqa: PLC0415  # not needed when FLOWPOOL_HOME is set

        folders = platformdirs.PlatformDirs("flowpool", appauthor=False)
        return cls(config_folder=folders.user_config_path, state_folder=folders.user_state_path)

    def make(self) -> Self:
        """Make the folders that are missing, for us alone. Raises FolderError."""
        for folder in (self.config_folder, self.state_folder):
            try:
                make_folder(folder)
            except OSError as error:
                raise FolderError(folder, error) from error
        return self

    @property
    def config(self) -> Path:
        """The person's settings; made once, never rewritten."""
        return self.config_folder / "config.toml"

    @property
    def accounts(self) -> Path:
        """The list of accounts, which only flowpool writes; no secrets."""
        return self.config_folder / "accounts.toml"

    @property
    def secrets(self) -> Path:
        """The accounts' secrets, where no keyring keeps them."""
        return self.state_folder / "secrets.json"

    @property
    def control_key(self) -> Path:
        """What opens /_flowpool/ of a running proxy."""
        return self.state_folder / "control.key"

    @property
    def client_key(self) -> Path:
        """What clients show where `[admit] key` is on; it opens nothing under /_flowpool/."""
        return self.state_folder / "client.key"

    @property
    def link(self) -> Path:
        """The `claude` that goes through the pool; in the state folder, for it starts this machine's interpreter."""
        return self.state_folder / "bin" / ("claude.cmd" if sys.platform == "win32" else "claude")

    @property
    def running(self) -> Path:
        """Which proxy runs."""
        return self.state_folder / "running.json"

    @property
    def log(self) -> Path:
        """What the proxy said; older files stand beside it with a number behind their name."""
        return self.state_folder / "logs" / "flowpool.log"

    @property
    def state(self) -> Path:
        """The database of readings, holds and requests."""
        return self.state_folder / "state.sqlite3"
