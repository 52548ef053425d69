"""The commented config.toml is true."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from home import template
from home.checks import Address
from home.schema import SETTINGS, values_of
from home.settings import Settings, parse
from routing.rules import Overage


def test_as_written_it_sets_nothing() -> None:
    """The file as flowpool makes it gives the defaults."""
    assert parse(Path("c"), template.render().encode()) == Settings()


VALUES: dict[str, Any] = {
    "listen.claude": Address(host="::1", port=4000),
    "listen.forward": Address(host="127.0.0.1", port=0),
    "prime.day": "08:00-20:00",
    "wait.max": 12.5,
    "probe.paid": True,
    "retry.connect": (1.0, 2.0),
    "log.bodies": '/a "quoted" \\ path',
    "routing.overage": Overage.ALLOW,
}


@given(keys=st.sets(st.sampled_from(sorted(VALUES))))
def test_what_is_set_holds_and_nothing_else(keys: set[str]) -> None:
    """Each value given is read again; everything else is a comment still."""
    given_values = {key: VALUES[key] for key in keys}
    text = template.render(given_values)

    assert values_of(parse(Path("c"), text.encode())) == values_of(Settings()) | given_values
    assert len(text.splitlines()) == len(template.render().splitlines())


def test_only_settings_are_set() -> None:
    """A slip of ours is no line of the person's file."""
    with pytest.raises(AssertionError):
        template.render({"prime.dya": ""})


def test_uncommented_it_sets_every_default() -> None:
    """With every comment mark of a setting removed it is valid, names every setting, and still gives the defaults."""
    text, count = re.subn(r"^# (\w+ = )", r"\1", template.render(), flags=re.MULTILINE)

    assert count == len(SETTINGS)
    assert parse(Path("c"), text.encode()) == Settings()


def test_a_change_needs_no_start_where_the_proxy_sees_it() -> None:
    """The head says who takes it up, who does not, and is true to a line's length."""
    head = template.render().partition("version =")[0]

    assert "A running `flowpool serve` takes that up by itself" in head
    assert "mitmdump and mitmweb" in head
    assert max(map(len, head.splitlines())) < 132


def test_every_setting_is_explained() -> None:
    """Each setting's meaning stands on its line."""
    lines = template.render().splitlines()

    for key, setting in SETTINGS.items():
        assert any(
            line.startswith(f"# {key.split('.')[-1]} = ") and line.endswith(f"  # {setting.meaning}") for line in lines
        )
