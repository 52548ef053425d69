"""A change of another program's file can be undone whatever ended us, at whatever moment."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from credentials.errors import NotWritten
from credentials.files import Disk
from flowpool import leftovers
from flowpool.errors import WrongFileError
from flowpool.launch import connecting, foreign, touched, wishes
from flowpool.launch.jsonc_edit import raw
from flowpool.launch.touched import Phase
from flowpool.launch.wishes import BASE, Reach
from home.checks import Address
from home.paths import Home
from tests.killed import killed_at

PROGRAM = "claude"
THEIRS = "https://gateway.example"
SETTINGS = """\ufeff{
\t// what my team uses
\t"enabledPlugins": {"a@b": true},\r
\t"env": {
\t\t"ANTHROPIC_BASE_URL": "https:\\/\\/gateway.example", "ANTHROPIC_CUSTOM_HEADERS": "X-A: 1",
\t\t"FOO": "1", /* last */
\t},
}
"""
TEXTS = {"full": SETTINGS, "bare": "{ }", "without": '{"model": "opus"}\n', "none": None}
STEPS = 200  # more than any change takes


def a_reach(port: int = 3456, key: str = "K") -> Reach:
    """The pool at some port."""
    return Reach(
        base_url=f"http://127.0.0.1:{port}",
        addresses=(Address(host="127.0.0.1", port=3456),),
        defaults={"ENABLE_TOOL_SEARCH": "true"},
        key=key,
    )


class Case:
    """A home, and a file of Claude Code's in a folder that is not there unless the file is."""

    def __init__(self, folder: Path, text: str | None) -> None:
        self.folder, self.text = folder, text
        self.home = Home(config_folder=folder / "home", state_folder=folder / "home")
        self.file = folder / "client" / "settings.json"
        folder.mkdir()
        if text is not None:
            self.file.parent.mkdir()
            self.file.write_bytes(text.encode())
            self.file.chmod(0o644)
        self.before = self.client()

    def client(self) -> dict[str, tuple[int, bytes]]:
        """Every name in Claude Code's folder, with its mode and what it holds."""
        folder = self.file.parent
        found = [folder, *folder.rglob("*")] if folder.exists() else []
        return {
            str(one.relative_to(folder)): (stat.S_IMODE(one.stat().st_mode), one.read_bytes() if one.is_file() else b"")
            for one in found
        }

    def on(self, port: int = 3456) -> object:
        """Connect."""
        return connecting.lay(self.home, PROGRAM, self.file, wishes.wishes(a_reach(port)))

    def off(self) -> object:
        """Disconnect: by what is known, else by sight."""
        known = wishes.theirs(a_reach().addresses)
        return connecting.lift(self.home, PROGRAM, self.file, known) or connecting.lift_by_sight(
            self.home, self.file, wishes.wishes(a_reach())
        )

    def tidy(self) -> None:
        """What `flowpool doctor --fix` does."""
        for one in leftovers.find(self.home):
            one.take_away()

    def address(self) -> str:
        """Where Claude Code is sent."""
        found = raw(self.file.read_text(encoding="utf-8"), BASE) if self.file.exists() else None
        return str(json.loads(found)) if found else ""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person's own settings are the case's; a program that is killed loses nothing that it wrote, so no disk is waited for."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "nobody"))
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_on_and_off_leaves_everything_as_it_was(tmp_path: Path, text: str | None) -> None:
    """Names, modes and bytes, also the folder that was not there; both can be done twice."""
    case = Case(tmp_path / "x", text)
    case.on()
    once = case.client()
    case.on()
    assert case.client() == once
    assert case.address() == "http://127.0.0.1:3456"
    assert case.off()
    assert case.client() == case.before

    assert case.off() is None
    assert case.client() == case.before
    assert not touched.path(case.home).exists()


def _killed_on(case: Case) -> Callable[[], object]:
    return case.on


def _killed_on_again(case: Case) -> Callable[[], object]:
    """With another address, over the first."""
    case.on()
    return lambda: case.on(4567)


def _killed_off(case: Case) -> Callable[[], object]:
    case.on()
    return case.off


KILLED = {"on": _killed_on, "again": _killed_on_again, "off": _killed_off}


def steps(tmp_path: Path, text: str | None, begin: Callable[[Case], Callable[[], object]]) -> list[Case]:
    """A case for each step at which the change can be killed."""
    cases: list[Case] = []
    for step in range(1, STEPS):
        case = Case(tmp_path / str(step), text)
        if not killed_at(step, begin(case)):
            assert step > 10
            return cases
        cases.append(case)
    raise AssertionError("it never came to its end")


@pytest.mark.parametrize("text", [SETTINGS, None], ids=["full", "none"])
@pytest.mark.parametrize("begin", KILLED.values(), ids=KILLED)
def test_x99_killed_at_any_point_then_on_and_off(
    tmp_path: Path, text: str | None, begin: Callable[[Case], Callable[[], object]]
) -> None:
    """Claude Code's file is whole at every moment, the person's own is back to the byte, and ours is never taken for theirs."""
    seen = set()
    for case in steps(tmp_path, text, begin):
        seen.add(case.address())
        case.on()
        assert case.address() == "http://127.0.0.1:3456"
        case.off()
        assert case.client() == case.before
        case.tidy()
        assert not touched.path(case.home).exists()
    assert len(seen) == 2
    assert seen <= {THEIRS if text else "", "http://127.0.0.1:3456", "http://127.0.0.1:4567"}


@pytest.mark.parametrize("text", [SETTINGS, None], ids=["full", "none"])
@pytest.mark.parametrize("begin", KILLED.values(), ids=KILLED)
def test_a_killed_change_can_be_undone_at_once(
    tmp_path: Path, text: str | None, begin: Callable[[Case], Callable[[], object]]
) -> None:
    """By doctor --fix, after which nothing is begun and nothing left; a change that is whole stays until it is undone."""
    for case in steps(tmp_path, text, begin):
        was_begun = any(one.is_begun for one in touched.load(case.home))
        case.tidy()
        assert not any(one.is_begun for one in touched.load(case.home))
        assert list(leftovers.find(case.home)) == []
        assert not was_begun or case.client() == case.before
        case.off()
        assert case.client() == case.before


def test_a_disk_that_is_full_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the file nor what is known of it."""
    case = Case(tmp_path / "x", SETTINGS)
    case.on()
    laid, known = case.client(), touched.load(case.home)

    def refuse(_disk: Disk, source: Path, target: Path) -> None:
        if target.name == "settings.json":
            raise OSError(28, "No space left on device")
        os.replace(source, target)  # noqa: PTH105  # as the real one does

    monkeypatch.setattr(Disk, "replace", refuse)
    changes: tuple[Callable[[], object], ...] = (lambda: case.on(4567), case.off)
    for change in changes:
        with pytest.raises(NotWritten, match="No space left"):
            change()
        assert (case.client(), touched.load(case.home)) == (laid, known)


def test_a_first_change_that_fails_leaves_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor a folder that it made."""
    case = Case(tmp_path / "x", None)

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Disk, "link", refuse)
    with pytest.raises(NotWritten):
        case.on()

    assert case.client() == {}
    assert touched.load(case.home) == ()


def test_what_another_program_writes_meanwhile_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read again, and changed as it is then; one that never rests is left alone."""
    case, real, writes = Case(tmp_path / "x", '{"n": 0}'), foreign.replace, iter(range(1, 100))
    most = 2

    def late(path: Path, data: bytes | None, expected: bytes | None) -> bool:
        if (number := next(writes)) <= most:
            path.write_text(f'{{"n": {number}}}')
        return real(path, data, expected)

    monkeypatch.setattr(foreign, "replace", late)
    case.on()
    assert json.loads(case.file.read_text())["n"] == 2
    case.off()
    assert case.file.read_text() == '{"n": 2}'

    most = 1000
    with pytest.raises(WrongFileError, match="again and again"):
        case.on()
    assert touched.load(case.home) == ()


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b'{\n"a": 1\n"b": 2}', 3),
        (b"", 1),
        (b"[]", 1),
        (b'{\n"a": "\xff"}', 2),
        (b'{"env":\n[]}', 2),
    ],
)
def test_what_is_no_object_is_refused_with_its_line(tmp_path: Path, data: bytes, line: int) -> None:
    """And left as it is."""
    case = Case(tmp_path / "x", "")
    case.file.write_bytes(data)
    with pytest.raises(WrongFileError) as caught:
        case.on()

    assert str(caught.value).startswith(f"{case.file}:{line}: ")
    assert "it is left as it is; run: " in str(caught.value)
    assert case.file.read_bytes() == data
    assert touched.load(case.home) == ()


def test_where_nothing_is_known_ours_goes_by_sight(tmp_path: Path) -> None:
    """An address of the pool, and a header of ours; a switch may be the person's, so it stays."""
    case = Case(tmp_path / "x", SETTINGS)
    case.on()
    touched.path(case.home).unlink()
    case.off()
    left = case.file.read_text(encoding="utf-8")

    assert case.address() == ""
    assert '"X-A: 1"' in left
    assert "x-flowpool" not in left
    assert "ENABLE_TOOL_SEARCH" in left


def test_what_the_person_changed_since_is_told(tmp_path: Path) -> None:
    """And stays."""
    case = Case(tmp_path / "x", SETTINGS)
    case.on()
    case.file.write_text(case.file.read_text(encoding="utf-8").replace("127.0.0.1", "10.0.0.1"), encoding="utf-8")
    undone = case.off()

    assert isinstance(undone, connecting.Undone)
    assert undone.changed == (BASE,)
    assert case.address() == "http://10.0.0.1:3456"


def test_the_phase_tells_a_whole_change_from_a_begun_one(tmp_path: Path) -> None:
    """What it may have put is forgotten but for the latest, once that stands."""
    case = Case(tmp_path / "x", SETTINGS)
    case.on()
    case.on(4567)
    (known,) = touched.load(case.home)
    (base,) = [one for one in known.changes if one.path == BASE]

    assert known.phase is Phase.LAID
    assert base.ours == ("http://127.0.0.1:4567",)
    assert base.was == '"https:\\/\\/gateway.example"'
