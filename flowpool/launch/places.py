"""Where a Claude Code may be that is not on the PATH, and how new it is."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

WINDOWS = "win32"
PROGRAM = "claude"
PACKAGE = "@anthropic-ai/claude-code"
DEEP = 4  # folders between a package's program and its package.json, at most

_FOLDERS = (  # below the person's own folder
    ".local/bin",  # the vendor's installer
    ".claude/local",  # its older one
    ".claude/local/node_modules/.bin",
    ".npm-global/bin",
    ".volta/bin",
    ".bun/bin",
)
_MACHINES = ("/opt/homebrew/bin", "/usr/local/bin", "/usr/bin")
_BY_VERSION = (  # of Node, each with a `claude` of its own
    ".nvm/versions/node/*/bin",
    ".local/share/fnm/node-versions/*/installation/bin",
    ".local/share/mise/installs/node/*/bin",
    ".asdf/installs/nodejs/*/bin",
)
_INSTALLED = ".local/share/claude/versions/*"  # programs named by their version
_PREFIX = re.compile(r"^\s*prefix\s*=\s*(.+?)\s*$", re.MULTILINE)
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+)+")

type Version = tuple[int, ...]


def elsewhere(variables: Mapping[str, str], platform: str, names: tuple[str, ...]) -> Iterator[Path]:
    """Yield paths at which there may be one; names: what the program may be called."""
    person = Path(variables.get("USERPROFILE" if platform == WINDOWS else "HOME") or Path.home())
    folders = [person / below for below in _FOLDERS]
    folders += [*_of_npm(variables, person, platform), *map(Path, () if platform == WINDOWS else _MACHINES)]
    for pattern in _BY_VERSION:
        folders += sorted(person.glob(pattern))
    for folder in folders:
        yield from (folder / name for name in names)
    yield from sorted(person.glob(_INSTALLED))


def _of_npm(variables: Mapping[str, str], person: Path, platform: str) -> Iterator[Path]:
    """Yield where npm puts programs for all folders, as its settings say; npm itself would take half a second to tell."""
    prefixes = [variables.get(name, "") for name in ("NPM_CONFIG_PREFIX", "npm_config_prefix")]
    try:
        told = _PREFIX.search((person / ".npmrc").read_text(encoding="utf-8", errors="replace"))
        prefixes.append(told[1] if told else "")
    except OSError:
        pass
    for prefix in filter(None, prefixes):
        folder = Path(prefix.replace("${HOME}", str(person)).replace("~", str(person), 1))
        yield folder if platform == WINDOWS else folder / "bin"
    if platform == WINDOWS and (roaming := variables.get("APPDATA")):
        yield Path(roaming) / "npm"


def version(program: Path) -> Version:
    """Return which version a program is, as its name or its package tells; nothing where neither does: it is not asked."""
    real = program.resolve()
    if _VERSION.fullmatch(real.name):
        return _numbers(real.name)
    packages = [folder / "package.json" for folder in real.parents[:DEEP]]
    packages += [folder / "node_modules" / PACKAGE / "package.json" for folder in (program.parent, real.parent)]
    for package in packages:
        try:
            found = json.loads(package.read_bytes())
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(found, dict) and str(found.get("name", "")).startswith(PACKAGE):
            return _numbers(str(found.get("version", "")))
    return ()


def _numbers(text: str) -> Version:
    found = _VERSION.match(text)
    return tuple(map(int, found[0].split("."))) if found else ()
