"""docs/settings.md says what the code does, and every setting that a document shows is one."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import tomli_w

from home import accounts, schema, settings
from home.schema import SETTINGS, TABLES
from home.template import literal
from tools import settings_docs

ROOT = Path(__file__).parents[1]
DOC = ROOT / "docs" / "settings.md"
DOCUMENTS = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").rglob("*.md"))]
PACKAGES = ("addons", "credentials", "flowpool", "home", "providers", "routing")
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
BY_CLICK = {"_FLOWPOOL_COMPLETE"}  # read by a library, under the name of our program


def section(title: str) -> str:
    """What stands under a heading."""
    return DOC.read_text().partition(f"# {title}\n")[2].partition("\n#")[0]


def test_the_document_is_the_one_that_the_code_draws() -> None:
    """What is in the tree is what `make docs` writes."""
    assert DOC.read_text() == settings_docs.render(), "docs/settings.md is out of date: run make docs"


@pytest.mark.parametrize("key", SETTINGS)
def test_every_setting_stands_in_its_section_with_its_default_range_and_meaning(key: str) -> None:
    """A setting has one row, and all of it is the code's."""
    table, _, name = key.rpartition(".")
    setting = SETTINGS[key]

    row = f"| `{name}` | {setting.check.wanted} | `{literal(setting.default)}` | {setting.meaning} |"
    assert section(f"[{table}]").count(f"\n{row}") == 1


def test_the_document_has_no_other_setting() -> None:
    """Each row under a table's heading is a setting."""
    rows = {
        f"{table}.{name}"
        for table in TABLES
        for name in re.findall(r"^\| `(\w+)`", section(f"[{table}]"), re.MULTILINE)
    }

    assert rows == SETTINGS.keys()


def test_every_key_of_an_account_is_there_and_is_read() -> None:
    """Each key has its row, and the reader takes the keys of the rows and no others."""
    assert re.findall(r"^\| `(\w+)`", section("accounts.toml"), re.MULTILINE) == list(accounts.KEYS)

    known = accounts.parse(DOC, next(text for _, text in blocks() if "[[accounts]]" in text).encode())
    written = accounts.render(known).decode()
    assert re.findall(r"^(\w+) = ", written.partition("[[accounts]]")[2], re.MULTILINE) == list(accounts.KEYS)


def test_every_environment_variable_that_the_code_reads_is_there() -> None:
    """The table names the variables that are looked up anywhere in the packages, and no others."""
    assert set(schema.VARIABLES) == {name for path in SOURCES for name in variables(path)} | BY_CLICK
    assert re.findall(r"^\| `(\w+)`", section("Environment variables"), re.MULTILINE) == list(schema.VARIABLES)


def variables(path: Path) -> Iterator[str]:
    """The names that a module looks up in an environment, also through a constant of its own."""
    tree = ast.parse(path.read_text())
    constants = {
        node.targets[0].id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=where, attr="get" | "pop" | "setdefault"), args=[key, *_]):
                pass
            case ast.Subscript(value=where, slice=key) | ast.Compare(left=key, comparators=[where]):
                pass
            case ast.Call(func=ast.Name(id="getenv") | ast.Attribute(attr="getenv"), args=[key, *_]):
                where = ast.Name(id="environ")
            case _:
                continue
        if ast.unparse(where).endswith("environ"):
            yield str(key.value if isinstance(key, ast.Constant) else constants.get(ast.unparse(key), ast.unparse(key)))


def test_mitmproxys_options_are_told_whole() -> None:
    """Each option of mitm_config.yaml has its row; flowpool adds none to mitmproxy's."""
    set_here = re.findall(r"^(\w+):", (ROOT / "mitm_config.yaml").read_text(), re.MULTILINE)

    assert set_here
    assert re.findall(r"^\| `(\w+)`", section("mitmproxy's options"), re.MULTILINE) == set_here
    assert [path for path in SOURCES if "add_option(" in path.read_text()] == []


def blocks() -> list[tuple[str, str]]:
    """Every TOML block of every document, with the place where it stands."""
    return [
        (f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, found.start()) + 1}", found[1])
        for path in DOCUMENTS
        for text in [path.read_text()]
        for found in re.finditer(r"^```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    ]


@pytest.mark.parametrize(("place", "text"), blocks(), ids=[place for place, _ in blocks()])
def test_every_example_is_read_without_a_fault(place: str, text: str) -> None:
    """What a document shows can be copied: into accounts.toml if it has accounts, else into config.toml."""
    parse = accounts.parse if "[[accounts]]" in text else settings.parse

    parse(Path(place), text.encode())


def named() -> list[tuple[str, str, str]]:
    """Where documents and messages speak of `[table] setting`, perhaps with a value: the place, the key, the value."""
    tables = "|".join(map(re.escape, TABLES))
    pattern = re.compile(rf"\[({tables})\] (\w+)(?: = ([^`\n]+)`)?|`((?:{tables})\.\w+) = ([^`\n]+)`")
    return [
        (str(path.relative_to(ROOT)), found[4] or f"{found[1]}.{found[2]}", found[3] or found[5] or "")
        for path in [*DOCUMENTS, *SOURCES]
        for found in pattern.finditer(path.read_text())
    ]


@pytest.mark.parametrize(("place", "key", "value"), sorted(set(named())))
def test_every_setting_that_is_named_is_one(place: str, key: str, value: str) -> None:
    """No document and no message sends a person to a setting that is not there, or to a value that is refused."""
    assert key in SETTINGS
    settings.parse(Path(place), f"{key} = {value}".encode() if value else b"")


def test_the_demos_settings_are_settings() -> None:
    """What `make demo` sets is read without a fault."""
    calls = (
        node for node in ast.walk(ast.parse((ROOT / "tests" / "demo.py").read_text())) if isinstance(node, ast.Call)
    )
    (given,) = [ast.literal_eval(word.value) for call in calls for word in call.keywords if word.arg == "settings"]

    settings.parse(Path("demo"), tomli_w.dumps(given).encode())
