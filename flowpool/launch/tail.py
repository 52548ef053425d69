"""Follows the transcript of one session: what has been written to it since it was first looked for."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from flowpool.launch.transcript import Ending, Transcript
from home import clientlogin

PIECE = 1024 * 1024
"""Bytes that are read at once."""


def projects(environ: Mapping[str, str]) -> Path:
    """Where Claude Code started with this environment keeps its transcripts: a folder for each project."""
    return clientlogin.usual(environ).file.parent / "projects"


class Tail:
    """The new lines of one session's transcript, wherever it is: its project's folder may not be there yet."""

    def __init__(self, folder: Path, session: str, since: datetime) -> None:
        """What is there now is old, and passed over, and so is what is dated before. folder: see projects()."""
        self._folder = folder
        self._name = f"{session}.jsonl"
        self._since = since
        self._read = {path: _size(path) for path in self._paths()}
        self._transcripts: dict[Path, Transcript] = {}

    def look(self) -> Ending | None:
        """Read what came; what ended the session's last turn, None when nothing that is to be resumed did."""
        for path in self._paths():
            self._take(path, self._transcripts.setdefault(path, Transcript(self._since)))
        turns = [transcript.turn for transcript in self._transcripts.values()]
        return max(turns, key=lambda turn: turn.at).ending if turns else None

    def _paths(self) -> list[Path]:
        """All of that name: a session that was moved to another folder leaves its first file behind."""
        try:
            return sorted(self._folder.glob(f"*/{self._name}"))
        except OSError:  # the folder went while it was looked at
            return []

    def _take(self, path: Path, transcript: Transcript) -> None:
        at = self._read.get(path, 0)
        if _size(path) < at:  # it was cut, or written anew
            transcript.restart()
            at = 0
        with suppress(OSError), path.open("rb") as file:  # gone, or not ours to read: there is nothing to be known
            file.seek(at)
            while piece := file.read(PIECE):
                at += len(piece)
                transcript.feed(piece)
        self._read[path] = at


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
