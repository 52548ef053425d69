"""How flowpool is installed for good: from where it came, for it is on no package index."""

import json
import shlex
import shutil
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

UNKNOWN = "/path/to/the/checkout"
PROJECT = "pyproject.toml"


def command(*options: str) -> str:
    """Return the command; options: for the program that installs, such as --python 3.13."""
    program = "pipx install" if shutil.which("pipx") and not shutil.which("uv") else "uv tool install"
    return " ".join((program, *options, shlex.quote(str(_source() or UNKNOWN))))


def _source() -> Path | None:
    """Return the checkout, or the file, that this flowpool was installed from or runs in; None when it is not there any more."""
    here = Path(__file__).parents[1]
    return next((path for path in (_installed_from(), here) if path and _can_be_installed(path)), None)


def _installed_from() -> Path | None:
    """Return the path that the installer noted; None when it was no file of this machine.

    Fact: direct_url.json beside the installed package, https://packaging.python.org/en/latest/specifications/direct-url/.
    """
    try:
        noted = json.loads(metadata.distribution("flowpool").read_text("direct_url.json") or "{}")
        parts = urlsplit(noted["url"])
    except (metadata.PackageNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return Path(url2pathname(parts.path)) if parts.scheme == "file" else None


def _can_be_installed(path: Path) -> bool:
    return path.is_file() or (path / PROJECT).is_file()
