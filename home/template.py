"""The config.toml that a new home gets: every setting with what it means, as a comment with its default unless it is set."""

import json
from collections.abc import Mapping
from typing import Any

from home.checks import Address
from home.schema import SETTINGS, TABLES, VERSION, settings_of

_HEAD = f"""\
# flowpool's settings. This file is yours: flowpool made it once and never changes it.
# Each line below shows a default. Remove its "# " to set it. A running `flowpool serve` takes that up by itself within a second;
# under mitmdump and mitmweb, and on Windows, start flowpool again. What is wrong is told by: flowpool config check

version = {VERSION}
"""


def render(values: Mapping[str, Any] | None = None) -> str:
    """Return the text of the file; values: what is set in it, by dotted key, instead of standing there as a comment."""
    given = values or {}
    assert given.keys() <= SETTINGS.keys()  # noqa: S101  # whoever calls has checked them as config.toml is
    return _HEAD + "".join(_table(name, given) for name in TABLES if settings_of(name))


def _table(name: str, given: Mapping[str, Any]) -> str:
    return f"\n[{name}]\n" + "".join(
        f"{line(key, given[f'{name}.{key}'])}  # {setting.meaning}\n"
        if f"{name}.{key}" in given
        else f"# {line(key, setting.default)}  # {setting.meaning}\n"
        for key, setting in settings_of(name).items()
    )


def line(key: str, value: Any) -> str:
    """Return what sets it; key: dotted, or bare below its table's head."""
    return f"{key} = {literal(value)}"


def literal(value: Any) -> str:
    """Return a setting's value as config.toml has it."""
    match value:
        case None:
            return '""'
        case bool():
            return "true" if value else "false"
        case str() | Address():
            return json.dumps(str(value), ensure_ascii=False)  # TOML escapes as JSON does, where a text is printable
        case tuple():
            return f"[{', '.join(literal(item) for item in value)}]"
        case _:
            return f"{value:.10g}"
