"""Changes another program's JSON file and undoes that, so that whatever ends us at any moment can be undone by the next command.

The order is what makes it so: first touched.py writes down what is about to change, then the file is replaced in one step, then the
record says that it is done. Undoing goes the same way back.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from credentials.errors import FileFault
from flowpool.errors import WrongFileError
from flowpool.findings.finding import editing
from flowpool.launch import foreign, overlay, touched
from flowpool.launch.jsonc import Malformed
from flowpool.launch.jsonc_edit import Keys
from flowpool.launch.overlay import Change, Theirs, Wish
from flowpool.launch.touched import Phase, Touched
from home.paths import Home

TRIES = 5  # another program may write the file while we do


@dataclass(frozen=True, slots=True, kw_only=True)
class Laid:
    """What is in the file now. is_new: whether anything changed. changes: ours."""

    is_new: bool
    changes: tuple[Change, ...]

    @property
    def replaced(self) -> tuple[Keys, ...]:
        """Where the person had a value of their own, which is remembered."""
        return tuple(one.path for one in self.changes if one.ours and one.was is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What became of a file. back: where ours was; changed: values that stay, for they are another's by now; gone: whether the file is."""

    back: tuple[Keys, ...] = ()
    changed: tuple[Keys, ...] = ()
    gone: bool = False


def lay(home: Home, program: str, file: Path, wishes: Sequence[Wish]) -> Laid:
    """Let wishes stand in a file. Raises WrongFileError, which names the line, and FileFault; the file is as it was then."""
    with touched.alone(home):
        before = touched.find(home, program, file)
        known = before.changes if before else ()
        made = before.folders if before else foreign.folders(file)

        def change(text: str | None) -> tuple[str | None, Touched, Laid]:
            after, changes = overlay.lay(text, wishes, known)
            latest = tuple(replace(one, ours=one.ours[-1:]) for one in changes)
            is_new = after != text or before is None or before.changes != latest
            begun = Touched(program=program, file=file, phase=Phase.LAYING, changes=changes, folders=made)
            return after, begun, Laid(is_new=is_new, changes=latest)

        begun, laid = _change(home, file, before, change)
        touched.keep(home, replace(begun, phase=Phase.LAID, changes=laid.changes))
        return laid


def lift(home: Home, program: str, file: Path, theirs: Mapping[Keys, Theirs]) -> Undone | None:
    """Take ours out of a file again; None, and nothing made, when nothing is known of it. Raises like lay."""
    if touched.find(home, program, file) is None:
        return None
    with touched.alone(home):
        known = touched.find(home, program, file)
        if known is None:
            return None

        def change(text: str | None) -> tuple[str | None, Touched, Undone]:
            lifted = overlay.lift(text, known.changes, theirs)
            values = tuple(one.path for one in known.changes if one.ours and one.path not in lifted.changed)
            undone = Undone(back=values, changed=lifted.changed, gone=text is not None and lifted.text is None)
            return lifted.text, replace(known, phase=Phase.LIFTING), undone

        _, undone = _change(home, known.file, known, change)
        foreign.remove_folders(known.folders)
        if left := tuple(one for one in known.changes if one.path in undone.changed):
            # another flowpool may have put it there, and may give ours back: then there is something to give back in its place
            touched.keep(home, replace(known, phase=Phase.LAID, changes=left))
        else:
            touched.forget(home, known)
        return undone


def lift_by_sight(home: Home, file: Path, wishes: Iterable[Wish]) -> Undone | None:
    """Take out what is ours by sight, where nothing is known; None, and nothing made, when there is nothing. Raises like lay."""
    for _ in range(TRIES):
        data = foreign.read(file)
        text = _decoded(file, data) or "{}"
        with _naming(file):
            changes = overlay.by_sight(text, wishes)
            after = overlay.lift(text, changes, {}).text
        if not changes:
            return None
        with touched.alone(home):
            if foreign.replace(file, _encoded(after), data):
                return Undone(back=tuple(one.path for one in changes))
    raise _restless(file)


def _change[T](
    home: Home, file: Path, before: Touched | None, change: Callable[[str | None], tuple[str | None, Touched, T]]
) -> tuple[Touched, T]:
    """Write down what is about to change, then change it; try again when another program wrote the file meanwhile."""
    for left in foreign.left_beside(file):
        with suppress(OSError):
            left.unlink()
    for _ in range(TRIES):
        data = foreign.read(file)
        text = _decoded(file, data)
        with _naming(file):
            after, begun, result = change(text)
        if after == text:
            return begun, result
        touched.keep(home, begun)
        try:
            if foreign.replace(file, _encoded(after), data):
                return begun, result
        except FileFault:
            _as_before(home, before, begun)
            raise
        _as_before(home, before, begun)
    raise _restless(file)


def _as_before(home: Home, before: Touched | None, begun: Touched) -> None:
    """Take back what was written down: the file was not changed."""
    foreign.remove_folders(begun.folders if before is None else ())
    if before is None:
        touched.forget(home, begun)
    else:
        touched.keep(home, before)


def _decoded(file: Path, data: bytes | None) -> str | None:
    """Return the text, its byte order mark and line ends included."""
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError as error:
        line = 1 + error.object[: error.start].count(b"\n")
        raise _wrong(file, line, "this is not UTF-8") from None


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


@contextmanager
def _naming(file: Path) -> Iterator[None]:
    """Let a fault in the text name the file."""
    try:
        yield
    except Malformed as error:
        raise _wrong(file, error.line, str(error)) from None


def _wrong(file: Path, line: int, what: str) -> WrongFileError:
    return WrongFileError(f"{file}:{line}: {what}; it is left as it is; run: {editing(file)}")


def _restless(file: Path) -> WrongFileError:
    return WrongFileError(
        f"{file} is written by another program again and again; it is left as it is; run it once more"
    )
