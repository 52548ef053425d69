"""The running proxy, as the command line speaks to it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

import click

from flowpool import ask
from flowpool.addresses import reachable
from flowpool.errors import Failure
from home import controlkey, running
from home.checks import Address
from home.paths import Home

PATIENCE = 2.0  # seconds; a proxy that is well answers within milliseconds
RELOADED_WITHIN = 6.0  # seconds; a keyring may be slow
OK, BAD, UNAUTHORIZED, FORBIDDEN = 200, 400, 401, 403
KEY_HEADER = "x-flowpool-key"


AGAIN = "run: flowpool restart"


class Told(Enum):
    """What became of a change that a running proxy should know of."""

    NOBODY = auto()  # no proxy runs
    TAKEN = auto()
    UNSURE = auto()  # one runs; why it may not know yet was said


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """Where a proxy listens, and what opens it."""

    pid: int
    address: Address
    key: str = field(repr=False)

    def get(self, path: str) -> bytes | None:
        """Return what it answers; None when nothing listens there, so that its pid must be another program's by now."""
        return self._ask(path, None, PATIENCE)

    def post(self, path: str, body: Mapping[str, Any], patience: float = PATIENCE) -> bytes | None:
        """Give it an instruction; otherwise like get."""
        return self._ask(path, json.dumps(body).encode(), patience)

    def _ask(self, path: str, body: bytes | None, patience: float) -> bytes | None:
        headers, address = {KEY_HEADER: self.key}, reachable(self.address)
        try:
            if body is None:
                code, data = ask.get(address, path, headers, patience)
            else:
                code, data = ask.post(address, path, headers, body, patience)
        except ConnectionRefusedError:
            return None
        except TimeoutError:
            raise Failure(f"{self} did not answer within {patience:g} s; try again, else {AGAIN}") from None
        except (OSError, ValueError) as error:
            raise Failure(f"{self} broke off: {type(error).__name__}; try again, else {AGAIN}") from error
        if code != OK:
            raise self.refused(code, data)
        return data

    def refused(self, code: int, data: bytes) -> Failure:
        """Return what to raise when it answered so."""
        why = _refusal(data) if code == BAD else ""
        if code in (UNAUTHORIZED, FORBIDDEN) or KEY_HEADER in why:  # it never answers 401 itself
            return Failure(
                f"the proxy at {self.address} does not accept this FLOWPOOL_HOME's control.key; {_ended(self.pid)}"
            )
        if why:
            return Failure(why)
        return Failure(f"what listens at {self.address} answered {code}; it may not be flowpool; {AGAIN}")

    def strange(self) -> Failure:
        """Return what to raise when its answer makes no sense."""
        return Failure(f"what listens at {self.address} does not answer as flowpool does; {AGAIN}")

    def __str__(self) -> str:
        return f"the proxy (pid {self.pid}) at {self.address}"


def _ended(pid: int) -> str:
    """Return the way to a new one where it takes no instruction, neither to stop nor to restart."""
    return f"run: kill {pid}, then flowpool start"


def _refusal(data: bytes) -> str:
    """Return why an instruction was not followed; nothing when that is not what was answered."""
    try:
        found = json.loads(data)["error"]["message"]
    except (ValueError, RecursionError, KeyError, TypeError):
        return ""
    return clean(found) if isinstance(found, str) else ""


def find(home: Home) -> Proxy | None:
    """Return the running proxy, None when there is none."""
    found = running.read(home.running)
    if found is None:
        return None
    address = found.listen.get("claude")
    key = controlkey.read(home.control_key)
    if address is None or key is None:
        raise Failure("the running proxy's key is missing; run: flowpool stop, then flowpool start")
    return Proxy(pid=found.pid, address=address, key=key.reveal())


def document(proxy: Proxy, data: bytes) -> dict[str, Any]:
    """Read an answer as a JSON object."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise proxy.strange()
    return found


def tell(home: Home) -> Told:
    """Let the running proxy, if there is one, read the accounts again.

    What stands in the files is done whatever it answers: it looks at them twice a second by itself.
    """
    try:
        proxy = find(home)
        data = proxy.post("/_flowpool/reload", {}, RELOADED_WITHIN) if proxy else None
        if proxy is None or data is None:
            return Told.NOBODY
        notices = _notices(document(proxy, data))
    except Exception as error:  # noqa: BLE001  # the change is made; this is about who knows of it
        notices = [f"the running proxy may not know yet: {error}"]
    for notice in notices:
        click.echo(f"flowpool: {clean(notice)}", err=True)
    return Told.UNSURE if notices else Told.TAKEN


def _notices(answer: dict[str, Any]) -> list[str]:
    """What a person should know of a reload."""
    found = answer.get("notices")
    notices = [str(one) for one in found] if isinstance(found, list) else []
    if answer.get("reloaded") is not True and not notices:
        return ["the running proxy is still reading the secrets"]
    return notices


def clean(text: str) -> str:
    """Drop what could steer a terminal: some of it comes from far away."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
