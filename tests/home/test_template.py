"""The commented config.toml is true."""

import re
from pathlib import Path

from home import template
from home.schema import SETTINGS
from home.settings import Settings, parse


def test_as_written_it_sets_nothing() -> None:
    """The file as flowpool makes it gives the defaults."""
    assert parse(Path("c"), template.render().encode()) == Settings()


def test_uncommented_it_sets_every_default() -> None:
    """With every comment mark of a setting removed it is valid, names every setting, and still gives the defaults."""
    text, count = re.subn(r"^# (\w+ = )", r"\1", template.render(), flags=re.MULTILINE)

    assert count == len(SETTINGS)
    assert parse(Path("c"), text.encode()) == Settings()


def test_every_setting_is_explained() -> None:
    """Each setting's meaning stands on its line."""
    lines = template.render().splitlines()

    for key, setting in SETTINGS.items():
        assert any(
            line.startswith(f"# {key.split('.')[-1]} = ") and line.endswith(f"  # {setting.meaning}") for line in lines
        )
