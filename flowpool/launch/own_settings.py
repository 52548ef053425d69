"""Which settings of Claude Code's may be changed: a person's own, never those of a project or of an organisation."""

import os
from pathlib import Path

from flowpool.errors import WrongFileError

LOCAL = "settings.local.json"
MANAGED = "managed-settings"
FOLDER = ".claude"


def checked(file: Path) -> Path:
    """Return a file that a person named, absolute. Raises WrongFileError: others share it, or it is not theirs to change."""
    path = file.expanduser().absolute()
    for seen in (path, Path(os.path.realpath(path))):
        if any(part.startswith(MANAGED) for part in seen.parts):
            raise WrongFileError(f"{path} is managed by an organisation, and is left as it is; run: flowpool connect")
        if seen.name == LOCAL or _is_of_project(seen):
            raise WrongFileError(f"{path} are a project's settings, and are left as they are; run: flowpool connect")
    return path


def _is_of_project(path: Path) -> bool:
    """Tell whether a file is in the folder that a project, other than the person's home, has for Claude Code."""
    project = path.parent.parent
    return path.parent.name == FOLDER and project != Path.home() and (project / ".git").exists()
