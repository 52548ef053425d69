"""config.toml is read, and everything wrong in it is said at once."""

import re
from contextlib import suppress
from pathlib import Path

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from home.checks import Address
from home.schema import SETTINGS, STRATEGIES, TABLES
from home.settings import Settings, SettingsError, load, parse
from home.tables import Prime
from routing.rules import Overage, Probing, Rules

PATH = Path("config.toml")


def faults(text: str) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        parse(PATH, text.encode())
    return str(caught.value).split("\n")


def test_nothing_set_means_the_defaults() -> None:
    """An empty file gives the defaults, and their rules are routing's own."""
    assert parse(PATH, b"") == Settings()
    assert Settings().rules == Rules()


def test_every_table_reaches_its_place() -> None:
    """A value of each table is where the code looks for it."""
    settings = parse(
        PATH,
        b"""
        version = 1
        listen.claude = "[::1]:0"
        providers.anthropic.upstream = "http://127.0.0.1:9"
        credentials.backend = "file"
        routing = { strategy = "perishing", switch_at = 1, overage = "allow" }
        replay.ambiguous = true
        wait.max = 1
        retry.connect = [0.5]
        hold.throttle_s = 2
        limits.body_mib = 0.5
        probe = { usage = false, paid = true, every = 600 }
        prime = { day = " 22:00-06:00", timezone = "Europe/Berlin" }
        """,
    )

    assert settings.listen.claude == Address(host="::1", port=0)
    assert settings.providers.anthropic.upstream == "http://127.0.0.1:9"
    assert settings.credentials.backend == "file"
    assert settings.rules.routing.overage is Overage.ALLOW
    assert settings.rules.routing.switch_at == 1.0
    assert settings.rules.ambiguous
    assert settings.rules.wait.max == 1.0
    assert settings.rules.retry.connect == (0.5,)
    assert settings.rules.hold.throttle_s == 2.0
    assert settings.limits.body_mib == 0.5
    assert settings.probe == Probing(usage=False, paid=True, every=600)
    assert settings.prime == Prime(day="22:00-06:00", timezone="Europe/Berlin")


ADDRESS = 'an address such as "127.0.0.1:3456" or "[::1]:3456", port 0 to 65535'
DAY = 'two times that differ, such as "08:00-23:00" or "22:00-06:00", or "" for none'
WHOLE = 'a whole path, from the root or from "~", or "" for none'
PROXY = 'a proxy such as "http://127.0.0.1:3128", without credentials, or "" for none'
NAME = 'a name such as "opus" or "claude-opus-5-5", or "" for none'
ZONE = 'the name of a time zone, such as "Europe/Berlin", or "" for this machine\'s'
STRATEGY = " or ".join(f'"{name}"' for name in STRATEGIES)
PLAIN = ": a number without quotes and without a unit"
ALONE = "; a number has no unit here: write the number alone"


def test_all_faults_come_at_once_with_their_lines() -> None:
    """One reading names every wrong key, its line and what was likely meant."""
    text = """\
version = 1
[listn]
claude = "x"
[listen]
claude = "127.0.0.1:99999"
[routing]
swich_at = 0.5
strategy = "perish"
overage = "alow"
[retry]
connect = [1, true]
[limits]
headers_s = "soon"
foo = 1
[hold]
connect_s = 1
"""

    assert faults(text) == [
        "config.toml:2: listn: is not a setting; did you mean listen?",
        f"config.toml:5: listen.claude: must be {ADDRESS}",
        "config.toml:7: routing.swich_at: is not a setting; did you mean routing.switch_at?",
        f'config.toml:8: routing.strategy: must be {STRATEGY}; did you mean "perishing"?',
        'config.toml:9: routing.overage: must be "avoid" or "allow"; did you mean "allow"?',
        "config.toml:11: retry.connect: must be a list of at most 20 numbers, each of seconds from 0 to a year",
        f"config.toml:13: limits.headers_s: must be seconds, more than 0 and at most a year{PLAIN}",
        "config.toml:14: limits.foo: is not a setting; there are "
        + ", ".join(k for k in SETTINGS if k.startswith("limits.")),
        "config.toml:16: hold.connect_s: is not a setting; did you mean limits.connect_s?",
    ]


CASES = [  # text, the one fault
    ("listen = 1", "config.toml:1: listen: must be a table: [listen]"),
    ("[listen.claude]\nport = 1", f"config.toml:1: listen.claude: must be {ADDRESS}"),
    ("listen.claude = '[zz]:1'", f"config.toml:1: listen.claude: must be {ADDRESS}"),
    ("\n[provider.anthropic]", "config.toml:2: provider: is not a setting; did you mean providers?"),
    ("switch_at = 0.5", "config.toml:1: switch_at: is not a setting; did you mean routing.switch_at?"),
    ("[providers.antropic]", "config.toml:1: providers.antropic: is not a setting; did you mean providers.anthropic?"),
    ("qqqq = 1", f"config.toml:1: qqqq: is not a setting; there are {', '.join(TABLES)}"),
    ("\n\nversion = 2\nx = 1", "config.toml:3: version: is 2, for a newer flowpool than this one, which reads 1"),
    ("version = true", "config.toml:1: version: must be 1"),
    ("version = 0", "config.toml:1: version: must be 1"),
    ('version = "1"', "config.toml:1: version: must be 1"),
    ("credentials.backend = 'memory'", 'config.toml:1: credentials.backend: must be "auto" or "keyring" or "file"'),
    ("replay.ambiguous = 1", "config.toml:1: replay.ambiguous: must be true or false"),
    ("wait.max = true", "config.toml:1: wait.max: must be seconds, from 0 to a year"),
    ("wait.max = nan", "config.toml:1: wait.max: must be seconds, from 0 to a year"),
    ("wait.max = inf", "config.toml:1: wait.max: must be seconds, from 0 to a year"),
    ("wait.max = -1", "config.toml:1: wait.max: must be seconds, from 0 to a year"),
    ("routing.switch_at = 1.1", "config.toml:1: routing.switch_at: must be a number from 0 to 1"),
    (
        'wait.max = "4m"',
        f"config.toml:1: wait.max: must be seconds, from 0 to a year{PLAIN}",
    ),
    (
        "[wait]\nmax = 4m",
        f"config.toml:2: not valid TOML: Expected newline or end of document after a statement{ALONE}",
    ),
    ("a = 1\na = 2", "config.toml:2: not valid TOML: Cannot overwrite a value"),
    ("probe.every = 60", "config.toml:1: probe.every: must be seconds, from 180 to a year"),
    ("probe.usage = 1", "config.toml:1: probe.usage: must be true or false"),
    ("prime.day = '08:00'", f"config.toml:1: prime.day: must be {DAY}"),
    ("prime.day = '08:00-08:00'", f"config.toml:1: prime.day: must be {DAY}"),
    ("prime.day = 8", f"config.toml:1: prime.day: must be {DAY}"),
    ("prime.timezone = 'Mars/Base'", f"config.toml:1: prime.timezone: must be {ZONE}"),
    ("prime.timezone = 'Europe'", f"config.toml:1: prime.timezone: must be {ZONE}"),
    ("prime.timezone = '../etc/passwd'", f"config.toml:1: prime.timezone: must be {ZONE}"),
    ("prime.timezone = 1", f"config.toml:1: prime.timezone: must be {ZONE}"),
    ("log.bodies = 'bodies'", f"config.toml:1: log.bodies: must be {WHOLE}"),
    ("outbound.proxy = 'http://u:p@host:1'", f"config.toml:1: outbound.proxy: must be {PROXY}"),
    ("outbound.proxy = 'https://host:1'", f"config.toml:1: outbound.proxy: must be {PROXY}"),
    ("outbound.proxy = 'http://host:0'", f"config.toml:1: outbound.proxy: must be {PROXY}"),
    ("launch.model = '--help'", f"config.toml:1: launch.model: must be {NAME}"),
]


@pytest.mark.parametrize(("text", "fault"), CASES, ids=[repr(text) for text, _ in CASES])
def test_one_wrong_value_is_one_line(text: str, fault: str) -> None:
    """Each kind of fault has its line, key and wish."""
    assert faults(text) == [fault]


WRONG: dict[type, tuple[object, ...]] = {  # by the default's type: of another type first, then out of range
    bool: ("PLANTED", 2),
    float: ("PLANTED", [1], True, -1, 1e10, 10**400),
    tuple: ("PLANTED", 1, [True], [-1], [1e10], [1] * 21),
    str: (7, [], True, "", "PLANTED two", "https://u:PLANTED"),
    Overage: (7, True, "PLANTED"),
    Address: (7, "PLANTED", "127.0.0.1:65536", "[PLANTED]:1"),
    type(None): (7, "PLANTED", "127.0.0.1:65536", "[PLANTED]:1"),  # an address that need not be
}


@pytest.mark.parametrize("key", SETTINGS)
def test_every_setting_refuses_what_it_must_not_be(key: str) -> None:
    """File, line, `table.setting` and the allowed range are said for each wrong value, which is never quoted."""
    setting = SETTINGS[key]
    for value in (wrong for wrong in WRONG[type(setting.default)] if wrong != setting.default):
        (fault,) = faults(tomli_w.dumps(nested(key, value)))

        assert re.match(rf"config\.toml:\d+: {re.escape(key)}: must be {re.escape(setting.check.wanted)}", fault)
        assert "PLANTED" not in fault


@pytest.mark.parametrize("key", SETTINGS)
def test_a_slip_in_any_name_is_answered_with_that_name(key: str) -> None:
    """A letter too few, one too many or two exchanged: the setting that was meant is named."""
    table, _, name = key.rpartition(".")
    slips = {name[:-1], name[1:], f"{name}x", name[0] + name[2] + name[1] + name[3:]} - {name}

    for slip in slips:
        (fault,) = faults(f"[{table}]\n{slip} = 1")
        assert fault == f"config.toml:2: {table}.{slip}: is not a setting; did you mean {key}?"


@pytest.mark.parametrize("table", TABLES)
def test_a_slip_in_any_table_is_answered_with_that_table(table: str) -> None:
    """So is a letter too few in a table's name."""
    (fault,) = faults(f"[{table[:-1]}]")

    assert fault == f"config.toml:1: {table[:-1]}: is not a setting; did you mean {table}?"


def nested(key: str, value: object) -> dict[str, object]:
    for part in reversed(key.split(".")[1:]):
        value = {part: value}
    return {key.partition(".")[0]: value}


LEAVES = st.sampled_from([key.split(".")[-1] for key in SETTINGS])
VALUES = st.recursive(
    st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec="utf-8"), max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(LEAVES, inner, max_size=3),
    max_leaves=5,
)


@given(
    tree=st.dictionaries(st.sampled_from(["version", "x", *(table for table in TABLES if "." not in table)]), VALUES)
)
def test_any_values_are_settings_or_faults(tree: dict[str, object]) -> None:
    """Whatever is set, the outcome is settings or a list of faults."""
    with suppress(SettingsError):
        parse(PATH, tomli_w.dumps(tree).encode())


def test_a_missing_file_is_made_once(tmp_path: Path) -> None:
    """The first load writes the commented file; later ones never touch it."""
    path = tmp_path / "new" / "config.toml"

    assert load(path) == Settings()
    path.write_text("wait.max = 5\n")
    assert load(path).wait.max == 5
    assert path.read_text() == "wait.max = 5\n"


def test_a_folder_that_cannot_be_written_gives_the_defaults(tmp_path: Path) -> None:
    """Settings can be read where nothing can be written."""
    (tmp_path / "file").touch()
    folder = tmp_path / "readonly"
    folder.symlink_to("/proc/self/task")  # nobody, root neither, may make a file here

    assert load(folder / "config.toml") == Settings()


def test_what_cannot_be_read_is_a_fault(tmp_path: Path) -> None:
    """A folder in the file's place is one line."""
    with pytest.raises(SettingsError, match="not a plain file"):
        load(tmp_path)
