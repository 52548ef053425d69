"""What Claude Code's settings put into its environment: it goes before the process's own.

Of a variable the first of these counts: an organisation's settings, `--settings`, the project's local ones, the project's, the person's,
the environment. Fact: docs/facts/claude-code.md, "Its settings".
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from credentials import files
from credentials.errors import FileFault
from flowpool.launch.environment import PLACED, TOKEN, Prepared
from home import clientlogin

OPTION, SOURCES, END = "--settings", "--setting-sources", "--"
HELPER = "apiKeyHelper"
OURS = "FLOWPOOL_"
NAME, LOCAL_NAME = "settings.json", "settings.local.json"
USER, PROJECT, LOCAL = "user", "project", "local"
MANAGED_NAME, MANAGED_FOLDER = "managed-settings.json", "managed-settings.d"
MANAGED = {"darwin": "/Library/Application Support/ClaudeCode", "win32": r"C:\Program Files\ClaudeCode"}
MANAGED_ELSE = "/etc/claude-code"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What all settings say together.

    env: what they put into the environment. where: who says so, by name. managed: names that an organisation sets, before which nothing
    goes. helper: the program that is asked for a key, if any. given: the person's own `--settings`; None where it cannot be read.
    """

    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    where: Mapping[str, str] = field(default_factory=dict)
    managed: frozenset[str] = frozenset()
    helper: str = field(default="", repr=False)
    given: Mapping[str, Any] | None = field(default_factory=dict, repr=False)


def look(arguments: Sequence[str], variables: Mapping[str, str], folder: Path, platform: str = sys.platform) -> Seen:
    """Read them for a launch in a folder; a file that Claude Code would pass over counts as empty."""
    person = clientlogin.usual(variables, platform).file.parent
    sources = _sources(arguments)
    given = _given(arguments, folder)
    managed = list(_managed(Path(MANAGED.get(platform, MANAGED_ELSE))))
    own = {USER: person / NAME, PROJECT: folder / ".claude" / NAME, LOCAL: folder / ".claude" / LOCAL_NAME}
    read = [(str(path), _read(path)) for source, path in own.items() if source in sources]
    told = [*read, (OPTION, given or {}), *managed]
    env, where, helper = dict[str, str](), dict[str, str](), ""
    for name, found in told:
        put = _env(found)
        env |= put
        where |= dict.fromkeys(put, name)
        helper = str(found[HELPER] or "") if HELPER in found else helper
    fixed = frozenset(name for _, found in managed for name in _env(found))
    return Seen(env=env, where=where, managed=fixed, helper=helper, given=given)


def ready(
    seen: Seen, environ: Mapping[str, str], prepare: Callable[[Mapping[str, str]], Prepared]
) -> tuple[Prepared, dict[str, str]]:
    """Prepare a launch as Claude Code will see its environment.

    Returns the environment of the process, and of the variables that settings would set otherwise the values that must go before
    them; an empty one stands for none.
    """
    alone = prepare(environ)
    if not seen.env:
        return alone, {}
    wanted = prepare({**environ, **{name: value for name, value in seen.env.items() if not _is_placed(name, value)}})
    shown = {name: wanted.values.get(name, "") for name in seen.env}
    before = {name: value for name, value in shown.items() if value != seen.env[name]}
    settled = seen.env.keys() - environ.keys() - before.keys()
    values = {name: value for name, value in alone.values.items() if name not in settled}
    values |= {name: value for name, value in wanted.values.items() if name not in seen.env}
    return replace(wanted, values=values), before


def _is_placed(name: str, value: str) -> bool:
    """Tell whether it is the placeholder, which `flowpool connect` puts there: a token of the person's own is not to be lost for it."""
    return name == TOKEN and value.endswith(PLACED)


def options(arguments: Sequence[str], name: str) -> Iterator[tuple[int, int, str]]:
    """Yield each use of an option that takes a value: where its words begin and end, and the value."""
    at = 0
    while at < len(arguments) and (word := arguments[at]) != END:
        if word == name and at + 1 < len(arguments):
            yield at, at + 2, arguments[at + 1]
            at += 1
        elif word.startswith(f"{name}="):
            yield at, at + 1, word.partition("=")[2]
        at += 1


def _sources(arguments: Sequence[str]) -> Iterable[str]:
    named = [value for _, _, value in options(arguments, SOURCES)]
    return [one.strip() for one in named[-1].split(",")] if named else (USER, PROJECT, LOCAL)


def _given(arguments: Sequence[str], folder: Path) -> Mapping[str, Any] | None:
    """Return what the last `--settings` says, which alone counts: a file, or JSON."""
    named = [value.strip() for _, _, value in options(arguments, OPTION)]
    if not named:
        return {}
    if named[-1].startswith("{"):
        return _object(named[-1].encode("utf-8", "surrogateescape"))
    try:
        data = files.read(folder / named[-1], private=False)
    except (FileFault, ValueError):
        return None
    return None if data is None else _object(data)


def _managed(folder: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        more = sorted((folder / MANAGED_FOLDER).glob("*.json"))
    except OSError:
        more = []
    for path in (folder / MANAGED_NAME, *more):
        yield str(path), _read(path)


def _read(path: Path) -> Mapping[str, Any]:
    try:
        data = files.read(path, private=False)
    except FileFault:
        return {}
    return _object(data or b"") or {}


def _object(data: bytes) -> Mapping[str, Any] | None:
    """Return JSON's object; None where it is none: of comments and trailing commas Claude Code knows nothing."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _env(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return its variables; never ours: a project could tell us by them what to put into the process, before it is trusted."""
    block = settings.get("env")
    found = block.items() if isinstance(block, dict) else ()
    texts = {name: _text(value) for name, value in found if isinstance(value, str | int | float)}
    return {name: text for name, text in texts.items() if not name.upper().startswith(OURS) and "\0" not in name + text}


def _text(value: str | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
