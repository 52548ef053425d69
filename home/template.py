"""The config.toml that a new home gets: every setting as a comment, with its default and what it means."""

from typing import Any

from home.checks import Address
from home.schema import SETTINGS, TABLES, VERSION

_HEAD = f"""\
# flowpool's settings. This file is yours: flowpool made it once and never changes it.
# Each line below shows a default. Remove its "# " to set it, then start flowpool again.

version = {VERSION}
"""


def render() -> str:
    """Return the text of the file."""
    return _HEAD + "".join(_table(name) for name in TABLES if _settings(name))


def _table(name: str) -> str:
    return f"\n[{name}]\n" + "".join(
        f"# {key.rpartition('.')[2]} = {_value(SETTINGS[key].default)}  # {SETTINGS[key].meaning}\n"
        for key in _settings(name)
    )


def _settings(table: str) -> list[str]:
    return [key for key in SETTINGS if key.rpartition(".")[0] == table]


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str() | Address():
            return f'"{value}"'
        case tuple():
            return f"[{', '.join(_value(item) for item in value)}]"
        case _:
            return f"{value:.10g}"
