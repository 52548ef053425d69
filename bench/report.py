"""The table that a run prints, and the file that keeps it with its date and machine."""

import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from statistics import median

RESULTS = Path(__file__).parent / "results"
NONE = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What was measured, its bar, one cell for each column, and whether the bar was met (None: there is none)."""

    what: str
    bar: str
    plain: str = NONE
    bare: str = NONE
    mitmdump: str = NONE
    serve: str = NONE
    met: bool | None = None

    def cells(self) -> Sequence[str]:
        """The row as text."""
        met = NONE if self.met is None else "yes" if self.met else "**no**"
        return (self.what, self.bar, self.plain, self.bare, self.mitmdump, self.serve, met)


COLUMNS = ("what", "bar", "no proxy", "bare mitmdump", "flowpool under mitmdump", "`flowpool serve`", "met")


def table(rows: Iterable[Row]) -> str:
    """Render the rows as Markdown."""
    lines = [COLUMNS, tuple("---" for _ in COLUMNS), *(row.cells() for row in rows)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def spread(values: Sequence[float], unit: str = "", digits: int = 2) -> str:
    """The median of several rounds, and between which values they lay."""
    middle = f"{median(values):.{digits}f}{unit}"
    if len(values) == 1:
        return middle
    return f"{middle} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def machine() -> str:
    """The kind of machine and of programs in one line."""
    system = f"{platform.system()} {platform.machine()}"
    return (
        f"{os.cpu_count()} cores, {_processor()}, {system}, Python {platform.python_version()},"
        f" mitmproxy {metadata.version('mitmproxy')}"
    )


def kind() -> str:
    """The kind of machine as part of a file's name."""
    return f"{platform.system()}-{platform.machine()}-{os.cpu_count()}-cores".lower()


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or "unknown processor"


def keep(text: str) -> Path:
    """Write a run's table to a file named by date and kind of machine; a later run of that day takes its place."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{datetime.now(UTC):%Y-%m-%d}-{kind()}.md"
    path.write_text(text, encoding="utf-8")
    return path
