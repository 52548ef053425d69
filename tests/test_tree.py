"""The tests mirror the tree, and the tree holds no address of a registry."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("addons", "credentials", "flowpool", "home", "providers", "routing")
UNTESTED_BY_NAME = {
    "addons/exchange.py",  # values; every end-to-end test passes through them
    "addons/lean.py",  # the lean master: tests/e2e/test_programs.py
    "addons/pool.py",  # the entry: tests/e2e/test_start.py
    "flowpool/__main__.py",
    "flowpool/errors.py",
    "providers/contract.py",  # tests/providers/contract.py
}


def modules() -> list[str]:
    """Every module of the packages, relative to the root."""
    found = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return sorted(str(path.relative_to(ROOT)) for path in found if path.name != "__init__.py")


@pytest.mark.parametrize("module", modules())
def test_each_module_has_a_test_file(module: str) -> None:
    """A module x/y.py is tested by tests/x/test_y.py, or is named above with its reason."""
    path = Path(module)
    test = ROOT / "tests" / path.parent / f"test_{path.name}"

    assert test.exists() != (module in UNTESTED_BY_NAME)


def test_each_test_file_has_a_module() -> None:
    """A test file tests/x/test_y.py stands for x/y.py or for the package x/y."""
    tests = (path for package in PACKAGES for path in (ROOT / "tests" / package).rglob("test_*.py"))
    named = {str(path.relative_to(ROOT / "tests")).replace("test_", "", 1) for path in tests}

    assert {
        name for name in named if not (ROOT / name).exists() and not (ROOT / name).with_suffix("").is_dir()
    } == set()
