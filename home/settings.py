"""config.toml: the person's settings, read and checked all at once."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from credentials import files
from credentials.errors import FileFault, Unreadable
from home import template, toml
from home.checks import nearest
from home.errors import Fault, SettingsError
from home.schema import SETTINGS, TABLES, VERSION
from home.tables import (
    Admission,
    Anthropic,
    Keeping,
    Launch,
    Limits,
    Listen,
    Log,
    Outbound,
    Prime,
    Providers,
    Replay,
    Settings,
)
from routing.rules import Holds, Overage, Probing, Retry, Routing, Waiting

__all__ = [  # what others need of a config.toml
    "Anthropic",
    "Keeping",
    "Limits",
    "Listen",
    "Providers",
    "Replay",
    "Settings",
    "SettingsError",
    "load",
    "parse",
]


def load(path: Path) -> Settings:
    """Read config.toml; a missing one is made, with every setting as a comment. Raises SettingsError with all faults."""
    try:
        data = files.read(path, private=False)
        if data is None:
            data = make(path)
    except Unreadable as error:
        raise SettingsError(path, (Fault(key="", line=None, message=error.what),)) from error
    return parse(path, data)


def parse(path: Path, data: bytes) -> Settings:
    """Read the text of config.toml; path is for the messages."""
    found = toml.parse(data)
    if isinstance(found, Fault):
        raise SettingsError(path, (found,))
    values: dict[str, Any] = {}
    faults = tuple(_check(found, values))
    if faults:
        places = toml.lines(data)
        raise SettingsError(path, tuple(_placed(fault, places) for fault in faults))
    return _build(values)


def make(path: Path) -> bytes:
    """Write the commented file if none is there and that is possible, and return what is there: nothing means the defaults."""
    data = template.render().encode()
    try:
        files.create(path, data)
    except FileFault:
        return b""
    return files.read(path, private=False) or data


def _check(found: toml.Table, values: dict[str, Any]) -> Iterator[Fault]:
    """Put each setting's value into values, by dotted key, and yield what is wrong."""
    version = found.pop("version", VERSION)
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        yield _wrong("version", f"must be {VERSION}")
    elif version > VERSION:
        yield _wrong("version", f"is {version}, for a newer flowpool than this one, which reads {VERSION}")
        return  # whatever else is in it cannot be judged
    yield from _check_table("", found, values)


def _check_table(prefix: str, table: toml.Table, values: dict[str, Any]) -> Iterator[Fault]:
    for name, value in table.items():
        key = f"{prefix}{name}"
        if key in TABLES and isinstance(value, dict):
            yield from _check_table(f"{key}.", value, values)
        elif key in TABLES:
            yield _wrong(key, f"must be a table: [{key}]")
        elif key in SETTINGS:
            try:
                values[key] = SETTINGS[key].check(value)
            except ValueError as error:
                yield _wrong(key, f"must be {error}")
        else:
            yield _wrong(key, _unknown(prefix, name))


def _unknown(prefix: str, name: str) -> str:
    """Name the nearest setting: the same word in another table, else one like it in this table, else anywhere."""
    known = [*SETTINGS, *TABLES]
    beside = {key.removeprefix(prefix): key for key in known if key.startswith(prefix)}
    anywhere = {key.rpartition(".")[2]: key for key in reversed(known)} | {key: key for key in known}
    near = anywhere.get(name) or beside.get(nearest(name, beside) or "") or anywhere.get(nearest(name, anywhere) or "")
    if near:
        return f"is not a setting; did you mean {near}?"
    return f"is not a setting; there are {', '.join(beside.values() if prefix else TABLES)}"


def _wrong(key: str, message: str) -> Fault:
    return Fault(key=key, line=None, message=message)


def _placed(fault: Fault, places: dict[toml.Key, int]) -> Fault:
    """Add the line: of the key, else of the first key in it."""
    by_name = {".".join(str(part) for part in key): line for key, line in places.items()}
    inside = (line for name, line in by_name.items() if name.startswith(f"{fault.key}."))
    return Fault(key=fault.key, line=by_name.get(fault.key) or next(inside, None), message=fault.message)


def _build(values: dict[str, Any]) -> Settings:
    def table(name: str) -> dict[str, Any]:
        start = f"{name}."
        return {key.removeprefix(start): value for key, value in values.items() if key.startswith(start)}

    routing = table("routing")
    if "overage" in routing:
        routing["overage"] = Overage(routing["overage"])
    return Settings(
        listen=Listen(**table("listen")),
        admit=Admission(**table("admit")),
        providers=Providers(anthropic=Anthropic(**table("providers.anthropic"))),
        credentials=Keeping(**table("credentials")),
        routing=Routing(**routing),
        replay=Replay(**table("replay")),
        wait=Waiting(**table("wait")),
        retry=Retry(**table("retry")),
        hold=Holds(**table("hold")),
        limits=Limits(**table("limits")),
        probe=Probing(**table("probe")),
        prime=Prime(**table("prime")),
        launch=Launch(**table("launch")),
        outbound=Outbound(**table("outbound")),
        log=Log(**table("log")),
    )
