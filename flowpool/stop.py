"""`flowpool stop`: the proxy answers what it has in flight, and ends."""

import http.client
import json
import time
from collections.abc import Callable
from signal import SIGINT, SIGTERM
from typing import Any, Self

import click

from flowpool import ending, health, proxy
from flowpool.addresses import reachable
from flowpool.arguments import pass_home
from flowpool.errors import Failure
from flowpool.proxy import KEY_HEADER, OK, Proxy
from home import controlkey, running
from home.paths import Home
from home.running import Running

PATIENCE = 5.0  # seconds for a proxy that is busy to answer
SLACK = 15.0  # seconds beyond its own limit, for it to write what it knows
HANDOVER = 10  # looks at a proxy of which another takes over just now
PAUSE = 0.1  # seconds between two of them
INTERRUPTED = 130
NONE = "no proxy runs"

type Say = Callable[[str], None]


@click.command
@click.option(
    "--now", is_flag=True, help="Without waiting for requests in flight: they are cut, and clients try again."
)
@pass_home
def stop(home: Home, now: bool) -> None:
    """Stop the proxy, once what it has in flight is answered."""
    try:
        click.echo(end(home, now=now))
    except KeyboardInterrupt:
        click.echo("it goes on ending by itself; to end it at once, run: flowpool stop --now")
        raise SystemExit(INTERRUPTED) from None


def end(home: Home, *, now: bool = False, say: Say = click.echo) -> str:
    """Stop the proxy, whatever state it is in, and say what there was to stop. Raises Failure."""
    another: Exception | None = None
    for _ in range(HANDOVER):
        found = running.left(home.running)
        if found is None:
            return NONE
        if not running.is_there(found):
            running.remove(home.running, found.pid)
            return f"{NONE}; the one with pid {found.pid} is gone, and ended without a word"
        try:
            return _ended(home, found, say, now=now)
        except _AnotherError as error:  # it may just be taking over
            another = error
        time.sleep(PAUSE)
    raise Failure(str(another)) from another


class _AnotherError(Exception):
    """Who answers is not who is said to run."""


def _ended(home: Home, found: Running, say: Say, *, now: bool) -> str:
    try:
        if controlkey.read(home.control_key) is None:
            _signal(home, found, now=now)
        elif not _is_asked(home, found, say, now=now):
            _await_ending(home, found, say, now=now)
    except TimeoutError:
        ending.force(home.running, found, say)
    return f"the proxy (pid {found.pid}) has ended"


def _signal(home: Home, found: Running, *, now: bool) -> None:
    """Have one end that nobody can ask any more, as its key is lost: a signal says the same, and a second one that it must not wait."""
    if not found.born:
        raise Failure(
            f"the key of the proxy (pid {found.pid}) is missing, and it is not sure that this is its process;"
            f" look at it, and end it yourself: kill {found.pid}"
        )
    for number in (SIGTERM, SIGINT) if now else (SIGTERM,):
        ending.tell(found, number)
    if not ending.is_over(found, _longest(home) + SLACK):
        raise TimeoutError


def _is_asked(home: Home, found: Running, say: Say, *, now: bool) -> bool:
    """Have it stop, and watch it until it has; False when nobody listens any more. Raises TimeoutError when it is dumb."""
    asked = proxy.find(home)
    told = None if asked is None else health.of(asked.address, PATIENCE)
    if asked is None or told is None:
        return False
    if told.pid != found.pid:
        raise _AnotherError(f"{asked.address} is answered by another proxy (pid {told.pid}); see: flowpool status")
    with _Line(asked) as line:
        begun = line.post("/_flowpool/stop", {"now": now})
        if earlier := begun.get("earlier"):
            say(f"with it end those before it, which still answer what they had begun: pid {_listed(earlier)}")
        watch = _Watch(line, begun, say)
        if not ending.is_over(found, float(begun.get("within", 0)) + SLACK, watch.look):
            raise TimeoutError
    return True


def _listed(pids: object) -> str:
    return ", ".join(str(pid) for pid in pids if isinstance(pid, int)) if isinstance(pids, list) else ""


def _await_ending(home: Home, found: Running, say: Say, *, now: bool) -> None:
    """Wait for one that has stopped listening: it ends already, or serves nobody."""
    if not found.born:
        ending.force(home.running, found, say)
    say(f"the proxy (pid {found.pid}) does not listen any more; it answers what it has in flight")
    if now:
        ending.tell(found, SIGTERM)
    if not ending.is_over(found, _longest(home) + SLACK):
        raise TimeoutError


def _longest(home: Home) -> float:
    from home import settings  # noqa: PLC0415  # only where the proxy itself does not tell

    limits = settings.load(home.config).limits
    return max(limits.drain_s, limits.stream_total_s)


class _Line:
    """One connection that is kept: a proxy that ends takes no new one."""

    def __init__(self, asked: Proxy) -> None:
        address = reachable(asked.address)
        self._asked = asked
        self._connection = http.client.HTTPConnection(address.host, address.port, timeout=PATIENCE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Give an instruction. Raises Failure when it is not taken, TimeoutError."""
        try:
            code, data = self._ask("POST", path, json.dumps(body).encode())
        except TimeoutError:
            raise
        except (OSError, http.client.HTTPException) as error:
            raise Failure(f"{self._asked} broke off: {type(error).__name__}; try again") from error
        if code != OK:
            raise self._asked.refused(code, data)
        return proxy.document(self._asked, data)

    def health(self) -> health.Health | None:
        """Ask how far it is; None when it says nothing any more."""
        try:
            return health.read(self._ask("GET", health.PATH, None)[1])
        except (OSError, http.client.HTTPException):
            return None

    def _ask(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        headers = {KEY_HEADER: self._asked.key, "Content-Type": "application/json"}
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read()


class _Watch:
    """Says how many requests are still in flight, whenever that is another number."""

    def __init__(self, line: _Line, begun: dict[str, Any], say: Say) -> None:
        self._line, self._say = line, say
        self._within = begun.get("within")
        self._shown = 0
        self._is_over = False
        self._show(begun.get("in_flight"))

    def look(self) -> None:
        """Ask, while it answers."""
        told = None if self._is_over else self._line.health()
        self._is_over = told is None
        if told is not None:
            self._show(told.in_flight)

    def _show(self, count: object) -> None:
        if isinstance(count, int) and count and count != self._shown:
            self._shown = count
            requests, they = ("1 request is", "it is") if count == 1 else (f"{count} requests are", "they are")
            self._say(
                f"{requests} in flight; the proxy ends when {they} answered, at most {self._within} s from the stop"
            )
