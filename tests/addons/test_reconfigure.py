"""A changed config.toml is taken up once, whatever becomes of it."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from addons.life import CannotRestartError
from addons.reconfigure import Reconfigure
from home import running, settings

PLAIN = "[wait]\nmax = 5\n"


class Standing:
    """A life that is followed, or says why not."""

    handover: object = object()
    is_ending = False

    def __init__(self) -> None:
        self.restarts, self.fault, self.restarted = 0, "", asyncio.Event()

    async def restart(self) -> Mapping[str, Any]:
        self.restarts += 1
        self.restarted.set()
        if self.fault:
            raise CannotRestartError(self.fault)
        return {}


class Watched:
    """A file, who watches it, and what came of that."""

    def __init__(self, folder: Path) -> None:
        self.path, self.life, self.digests = folder / "config.toml", Standing(), list[str]()
        self.path.write_text(PLAIN)
        chosen = settings.parse(self.path, PLAIN.encode())
        life: Any = self.life
        self.reconfigure = Reconfigure(self.path, chosen, life, self.digests.append)

    def look(self, text: str | None = None) -> tuple[int, tuple[str, ...]]:
        """Write something else, and look twice; how often a restart was tried, and what is to be known."""
        if text is not None:
            self.path.write_text(text)
        for _ in range(2):
            asyncio.run(self.reconfigure.look())
        return self.life.restarts, self.reconfigure.notices


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    """A file that says what was taken up."""
    return Watched(tmp_path)


def test_the_same_said_otherwise_restarts_nobody(watched: Watched) -> None:
    """It is only known that the file is the one that holds."""
    assert watched.look() == (0, ())
    assert watched.look(f"# why\n{PLAIN}") == (0, ())
    assert watched.digests[-1] == running.digest(watched.path) != watched.digests[0]


def test_another_setting_is_taken_up_once(watched: Watched) -> None:
    """By another process."""
    assert watched.look("[wait]\nmax = 6\n") == (1, ())


def test_a_broken_file_is_told_of_once(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    """And as long as it is broken, the notice stands."""
    restarts, (notice,) = watched.look("[wait]\nmax = 'x'\n")
    assert restarts == 0
    assert notice.startswith("config.toml is not taken up: ")
    watched.look()
    assert caplog.text.count("config.toml is not taken up") == 1
    assert watched.look(PLAIN) == (0, ())


def test_a_file_that_makes_successors_fail_is_not_tried_again(watched: Watched) -> None:
    """Until it says something else."""
    watched.life.fault = "the port is taken"
    assert watched.look("[wait]\nmax = 6\n") == (1, ("config.toml is not taken up: the port is taken",))
    watched.look()
    watched.life.fault = ""
    assert watched.look("[wait]\nmax = 7\n")[0] == 2


def test_a_file_that_is_gone_is_waited_for(watched: Watched) -> None:
    """An editor may be about to put another in its place."""
    watched.path.unlink()
    assert watched.look() == (0, ())
    assert watched.look("[wait]\nmax = 6\n") == (1, ())


def test_only_who_can_be_followed_looks(watched: Watched) -> None:
    """Under mitmdump a person restarts it."""

    async def play() -> None:
        watched.path.write_text("[wait]\nmax = 6\n")
        watched.life.handover = None
        watched.reconfigure.running()
        watched.reconfigure.done()
        assert watched.life.restarts == 0
        watched.life.handover = object()
        watched.reconfigure.running()
        await watched.life.restarted.wait()
        watched.reconfigure.done()

    asyncio.run(asyncio.wait_for(play(), 20))


def test_one_that_ends_leaves_the_file_to_the_next(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    """For as long as it answers what it has begun, which may be an hour: its log would tell of restarts that nobody wants of it."""
    watched.life.is_ending = True
    assert watched.look("[wait]\nmax = 7\n") == (0, ())
    assert caplog.text == ""
