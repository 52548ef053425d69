"""docs/faults.md is whole: each row says a fault, its outcome and its tests, and those tests exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
COLUMNS = ["fault", "outcome", "test"]


def cells(line: str) -> list[str]:
    """The cells of a table's line."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


LINES = [cells(line) for line in TEXT.splitlines() if line.startswith("|")]
ROWS = [line for line in LINES if line != COLUMNS and set("".join(line)) != {"-"}]


@cache
def named_in(path: str) -> frozenset[str]:
    """The names of the tests in a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(node.name for node in functions)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:50] if row else "")
def test_each_fault_has_its_outcome_and_its_tests(row: list[str]) -> None:
    """A row has three cells, and its last one names tests that exist and nothing else."""
    fault, outcome, named = row
    assert fault
    assert outcome
    assert TEST.search(named)
    assert TEST.sub("", named).replace("<br>", "") == ""
    assert [f"{path}::{name}" for path, name in TEST.findall(named) if name not in named_in(path)] == []


def test_no_fault_is_told_twice() -> None:
    """One fault, one row."""
    assert len({row[0] for row in ROWS}) == len(ROWS) > 50


def test_the_table_stands_alone() -> None:
    """Nothing points outside the project, but for public reports."""
    assert re.findall(r"\bX\d{2,3}[a-z]?\b", TEXT) == []
