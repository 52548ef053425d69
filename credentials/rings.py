"""Which keyring of this machine is a real one."""

import os
import re
from typing import Any

from credentials.errors import KeyringBroken, NoKeyring
from credentials.faults import translate
from credentials.keyring import SERVICE, Ring

VARIABLE = "PYTHON_KEYRING_BACKEND"
PROBE = "probe"  # the user of an entry that is asked for, and with backends we do not know is written
LEAST = 1  # the package's own "recommended"
SYSTEMS = (  # the package's own backends that hand secrets to the system
    "keyring.backends.SecretService",
    "keyring.backends.Windows",
    "keyring.backends.kwallet",
    "keyring.backends.libsecret",
    "keyring.backends.macOS",
)

_NONE = "is no keyring"  # what the package names when it finds nothing
_DOTTED = re.compile(r"[A-Za-z_][\w.]{0,99}")


def look() -> Ring:
    """Return the keyring that find() would return, without writing to any: one that we do not know is taken at its word."""
    return find(writes=False)


def find(*, writes: bool = True) -> Ring:
    """Return the real keyring that answers; raise NoKeyring with the reason when there is none. Blocks.

    writes: whether a backend that we do not know may be given an entry, which is erased again, to see whether it keeps it.
    Also raises whatever a keyring raises that is there and does not answer.
    """
    from keyring.backends.chainer import ChainerBackend  # noqa: PLC0415  # 85 ms

    chosen: Any = _chosen()
    # A chain writes to its first member and reads from all: what was deleted would reappear from a later one.
    members = sorted(chosen.backends, key=_is_system, reverse=True) if isinstance(chosen, ChainerBackend) else [chosen]
    objections: list[str] = []
    for member in members:
        problem = objection(member) or _probe(member, writes=writes)
        if problem is None:
            return member  # type: ignore[no-any-return]
        is_nobody = problem == _NONE and VARIABLE not in os.environ
        name = f"{type(member).__module__}.{type(member).__qualname__}"
        objections.append("no keyring runs here" if is_nobody else f"{name} {problem}")
    problem = "; ".join(objections)
    if VARIABLE in os.environ:
        raise NoKeyring(f"{problem}, and {VARIABLE} names it", f"unset {VARIABLE}")
    raise NoKeyring(problem)


def objection(ring: Any) -> str | None:
    """Return why a backend is no place for secrets; None when it is one."""
    kinds = type(ring).__mro__
    names = [f"{kind.__module__}.{kind.__name__}".lower() for kind in kinds]
    if names[0] == "keyring.backends.fail.keyring":
        return _NONE
    if names[0] == "keyring.backends.null.keyring":
        return "keeps nothing"
    if any("plaintext" in name for name in names):
        return "keeps secrets as plain text"
    if hasattr(type(ring), "file_path") and not any("crypt" in name for name in names):
        return "keeps secrets in a file of its own, perhaps as plain text"
    try:
        priority = float(ring.priority)
    except Exception:  # noqa: BLE001  # it raises the reason, in words of any kind
        return "cannot work here"
    return None if priority >= LEAST else f"is not a recommended one (priority {priority:g})"


def _chosen() -> object:
    """Return what the package keyring would use: what was named, else what it finds."""
    import keyring  # noqa: PLC0415

    try:
        return keyring.get_keyring()
    except Exception as error:  # noqa: BLE001  # what was named may fail in any way
        named = os.environ.get(VARIABLE)
        if named is None:
            raise NoKeyring(f"the package keyring finds no backend ({type(error).__name__})") from None
        shown = f" ({named})" if _DOTTED.fullmatch(named) else ""
        raise NoKeyring(f"{VARIABLE}{shown} names no backend that works here", f"unset {VARIABLE}") from None


def _probe(ring: Ring, *, writes: bool) -> str | None:
    """Ask for an entry that need not be there; return what is wrong with a backend that cannot keep secrets.

    One that we do not know is written to: some only look up what another program made, or drop what they are given.
    """
    if _is_system(ring) or not writes:
        ring.get_password(SERVICE, PROBE)
        return None
    try:
        ring.set_password(SERVICE, PROBE, PROBE)
        is_kept = ring.get_password(SERVICE, PROBE) == PROBE
        ring.delete_password(SERVICE, PROBE)
    except Exception as error:
        if isinstance(fault := translate(error), KeyringBroken):
            return f"cannot be used: {fault.problem}"
        raise
    return None if is_kept else "does not give back what it is given"


def _is_system(ring: object) -> bool:
    return type(ring).__module__.startswith(SYSTEMS)
