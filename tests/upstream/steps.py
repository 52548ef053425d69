"""What a connection of the fake upstream can be told to do, one small value each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Send:
    """Write these bytes and wait until the kernel has them."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Pause:
    """Let this many seconds pass."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Gate:
    """Wait until the test releases the gate of this name."""

    name: str


@dataclass(frozen=True, slots=True)
class Reset:
    """Cut the connection with a TCP reset."""


@dataclass(frozen=True, slots=True)
class End:
    """Close the connection cleanly (FIN)."""


@dataclass(frozen=True, slots=True)
class Silence:
    """Say nothing more until the peer leaves."""


type Act = Pause | Gate | Reset | End | Silence
type Step = Send | Act
