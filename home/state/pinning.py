"""Pins that a person sets while no proxy runs."""

from pathlib import Path

from sqlalchemy.exc import DBAPIError

from home.state.changes import write_pins
from home.state.database import prepare
from home.state.errors import StateError
from home.state.trouble import reason
from home.state.writer import read
from routing.pins import Pin, Pins
from routing.remembered import Remembered


def pin(path: Path, wish: Pin, session: str | None = None, *, forces: bool = False) -> None:
    """Write a wish where the next proxy finds it; the file is made when it is missing. Raises StateError."""
    try:
        with prepare(path).connect() as connection:
            old, pins = read(connection), Pins()
            pins.restore(old.pins)
            pins.told(wish, session, forces=forces)
            with connection.begin():
                write_pins(connection, old, Remembered(pins=pins.kept()))
    except (DBAPIError, OSError) as error:
        raise StateError(f"{path} cannot be written: {reason(error)}; run: ls -l '{path}'") from error
