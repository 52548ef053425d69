"""The config.toml that a new home gets: every setting as a comment, with its default and what it means."""

from typing import Any

from home.checks import Address
from home.schema import TABLES, VERSION, settings_of

_HEAD = f"""\
# flowpool's settings. This file is yours: flowpool made it once and never changes it.
# Each line below shows a default. Remove its "# " to set it, then start flowpool again.

version = {VERSION}
"""


def render() -> str:
    """Return the text of the file."""
    return _HEAD + "".join(_table(name) for name in TABLES if settings_of(name))


def _table(name: str) -> str:
    return f"\n[{name}]\n" + "".join(
        f"# {key} = {literal(setting.default)}  # {setting.meaning}\n" for key, setting in settings_of(name).items()
    )


def literal(value: Any) -> str:
    """Return a setting's value as config.toml has it."""
    match value:
        case None:
            return '""'
        case bool():
            return "true" if value else "false"
        case str() | Address():
            return f'"{value}"'
        case tuple():
            return f"[{', '.join(literal(item) for item in value)}]"
        case _:
            return f"{value:.10g}"
