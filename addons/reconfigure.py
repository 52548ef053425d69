"""Reconfigure: has a changed config.toml taken up by a process that reads it anew, where this one can be followed by another."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path

from addons.aside import aside
from addons.life import CannotRestartError, Life
from addons.rounds import Rounds
from addons.watch import EVERY, MOST_LOOKS, SETTLED, Stamp, stamp_of
from credentials import files
from credentials.errors import FileFault
from home import running, settings
from home.errors import HomeError
from home.settings import Settings

logger = logging.getLogger(__name__)


class Reconfigure:
    """Looks twice a second. Each content is tried once, whatever becomes of it.

    chosen: what this process took up. taken_up: told the digest of a file that says the same in other words.
    """

    name = "flowpool_reconfigure"

    def __init__(
        self, path: Path, chosen: Settings, life: Life, taken_up: Callable[[str], None], *, every: float = EVERY
    ) -> None:
        self._path = path
        self._chosen = chosen
        self._life = life
        self._taken_up = taken_up
        self._seen: Stamp | None = None
        self._fault = ""
        self._rounds = Rounds("reconfigure", self.look, every)

    def running(self) -> None:
        """Begin to look, where that is of any use."""
        if self._life.handover is not None:
            self._rounds.start()

    def done(self) -> None:
        """Look no more."""
        self._rounds.stop()

    @property
    def notices(self) -> tuple[str, ...]:
        """Why the file as it is now does not hold."""
        return (f"config.toml is not taken up: {self._fault}",) if self._fault else ()

    async def look(self) -> None:
        """Take up what changed; not while this process ends, when it is another's to do."""
        if self._life.is_ending:
            return
        stamp = stamp_of(self._path)
        if not stamp or stamp == self._seen:  # one that is gone will be back: editors replace it
            return
        self._seen = await self._settled(stamp)
        try:
            found, digest = await aside(partial(_read, self._path))
        except (HomeError, FileFault) as error:
            self._say(" / ".join(str(error).splitlines()))
            return
        if found == self._chosen:
            self._fault = ""
            self._taken_up(digest)
        elif found is not None:
            await self._hand_over()

    async def _hand_over(self) -> None:
        logger.info("flowpool: config.toml was changed, and is taken up by a new process")
        try:
            await self._life.restart()
        except CannotRestartError as error:
            self._fault = str(error)

    def _say(self, fault: str) -> None:
        if fault != self._fault:
            self._fault = fault
            logger.warning("flowpool: config.toml is not taken up: %s", fault)

    async def _settled(self, stamp: Stamp) -> Stamp:
        """Wait until the file is left alone: an editor may be in the middle of writing it."""
        for _ in range(MOST_LOOKS):
            before = stamp
            await asyncio.sleep(SETTLED)
            stamp = stamp_of(self._path)
            if stamp == before:
                break
        return stamp


def _read(path: Path) -> tuple[Settings | None, str]:
    """Read the settings with the file's digest; None when it is gone."""
    digest = running.digest(path)
    data = files.read(path, private=False)
    return (None if data is None else settings.parse(path, data)), digest
