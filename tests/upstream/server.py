"""The fake upstream: a loopback server on a thread of its own, scripted account by account.

A little over 250 lines, for scripts, gates, life and connections are one object to the tests.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import threading
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Self

from tests.upstream.answer import Answer
from tests.upstream.door import NOBODY, Door
from tests.upstream.gates import Gate
from tests.upstream.received import PATIENCE, Fate, Log, Received, digest
from tests.upstream.side import MESSAGES, OPEN, unscripted
from tests.upstream.steps import Act
from tests.upstream.wire import Head, PeerLeftError, ScriptEndedError, Wire

INSTRUCTIONS = "/_upstream/"  # where the fake as a program is told what to do

type Reply = Answer | Callable[[Received], Answer]


class Upstream:
    """A fake of api.anthropic.com, told what to answer per account.

    accounts: credential text by account name. strict: refuse an OAuth token without its beta, or in x-api-key, as the
    vendor does. keep_bodies: False for long runs, where size and digest are enough. tls: what it speaks TLS with; None: plain http.

        with Upstream({"work": plant("work")}) as upstream:
            upstream.script("work", limit("7d"), ok("hello"))
    """

    def __init__(
        self,
        accounts: Mapping[str, str] | None = None,
        *,
        port: int = 0,
        strict: bool = True,
        keep_bodies: bool = True,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.requests = Log()
        self.faults: list[str] = []
        self.connections = 0
        self._door = Door(accounts or {}, strict=strict)
        self._keep = keep_bodies
        self._queues: defaultdict[tuple[str, str], deque[Reply]] = defaultdict(deque)
        self._defaults: dict[tuple[str, str], Reply] = {}
        self._greetings: deque[tuple[Act, ...]] = deque()
        self._gates: dict[str, Gate] = {}
        self._wires: set[Wire] = set()
        self._port, self._tls = port, tls
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="upstream", daemon=True)
        self._server: asyncio.Server | None = None

    # -- scripts -----------------------------------------------------------------------------------------------

    def add(self, account: str, token: str) -> None:
        """Know one more credential."""
        self._door.owners[token] = account

    def script(self, account: str, *replies: Reply, path: str = MESSAGES) -> None:
        """Queue answers for the account's next requests to that path; each is used once.

        A reply may be a function of the request. account "" scripts requests without a credential.
        """
        self._queues[account, path].extend(replies)

    def default(self, account: str, reply: Reply, *, path: str = MESSAGES) -> None:
        """What the account answers once its queue is empty; without one it answers a good turn."""
        self._defaults[account, path] = reply

    def greet(self, *acts: Act) -> None:
        """Let the next connection do this before it reads: Reset(), End() or Silence()."""
        self._greetings.append(acts)

    def left(self) -> dict[tuple[str, str], int]:
        """How many scripted answers were not used yet, by account and path."""
        return {key: len(queue) for key, queue in self._queues.items() if queue}

    def reset(self) -> None:
        """Forget scripts, defaults, greetings and the log; open all gates."""
        for forgotten in (self._queues, self._defaults, self._greetings, self.requests, self.faults):
            forgotten.clear()
        for name in list(self._gates):
            self.release(name)
        self._gates.clear()

    # -- gates -------------------------------------------------------------------------------------------------

    def release(self, name: str) -> None:
        """Open a gate for good: all who wait there, or come there, go on."""
        self._loop.call_soon_threadsafe(self._gate(name).opened.set)

    def hold(self, name: str) -> None:
        """Close a gate again; a gate that nobody released is closed."""
        self._loop.call_soon_threadsafe(self._gate(name).opened.clear)

    def wait_held(self, name: str, timeout: float = PATIENCE) -> None:
        """Return as soon as an answer has come to that gate."""
        if not self._gate(name).reached.wait(timeout):
            raise TimeoutError(f"no answer came to the gate {name!r}")

    def _gate(self, name: str) -> Gate:
        return self._gates.setdefault(name, Gate())

    async def _wait_at(self, name: str) -> None:
        await self._gate(name).pass_through()

    # -- life --------------------------------------------------------------------------------------------------

    @property
    def port(self) -> int:
        """The port it listens on."""
        return self._port

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        self._thread.start()
        self.accept()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()

    def refuse(self) -> None:
        """Close the listener: new connections are refused, those that exist live on."""
        self._call(self._deafen())

    def accept(self) -> None:
        """Listen, again on the same port."""
        self._call(self._listen())

    def close_connections(self, *, reset: bool = False) -> None:
        """End every connection now, cleanly or with a reset."""

        async def close() -> None:
            for wire in self._wires:
                wire.reset() if reset else wire.close()

        self._call(close())

    @property
    def open_connections(self) -> int:
        """How many connections are open."""
        return len(self._wires)

    def _call(self, what: Awaitable[None]) -> None:
        async def run() -> None:
            await what

        asyncio.run_coroutine_threadsafe(run(), self._loop).result(PATIENCE)

    async def _listen(self) -> None:
        self._server = await self._loop.create_server(
            self._wire, "127.0.0.1", self._port, reuse_address=True, backlog=512, ssl=self._tls
        )
        self._port = self._server.sockets[0].getsockname()[1]

    async def _deafen(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _close(self) -> None:
        await self._deafen()
        wires = list(self._wires)
        tasks = [wire.task for wire in wires if wire.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for wire in wires if self._tls else ():
            wire.abort()  # TLS would wait for its peer's last word
        await asyncio.sleep(0)  # transports close in the loop's next round

    # -- one connection ----------------------------------------------------------------------------------------

    def _wire(self) -> Wire:
        self.connections += 1
        return Wire(self.connections, self._serve, self._wait_at)

    async def _serve(self, wire: Wire) -> None:
        self._wires.add(wire)
        try:
            for act in self._greetings.popleft() if self._greetings else ():
                await wire.perform(act)
            index = 0
            while await self._answer_one(wire, index):
                index += 1
        except (PeerLeftError, ScriptEndedError, ConnectionError, asyncio.CancelledError):
            raise
        except Exception as error:  # a fault of ours must fail the test that looks, not vanish in a thread
            self.faults.append(f"{type(error).__name__}: {error}")
            raise PeerLeftError from error
        finally:
            self._wires.discard(wire)

    async def _answer_one(self, wire: Wire, index: int) -> bool:
        """Read one request, log it, answer it; False when the connection should end."""
        head = await wire.read_head()
        path = head.path.partition("?")[0]
        scripted = (NOBODY, path) in self._defaults or bool(self._queues.get((NOBODY, path)))
        account, refused = self._door.identify(head, open_to_all=path in OPEN or scripted)
        reply = refused or self._take(account, path)
        early = isinstance(reply, Answer) and reply.early
        body, whole = (b"", False) if early else await self._body(wire, head)
        received = self._note(wire, index, head, body, account=account, whole=whole, reply=reply)
        if not whole and not early:
            received.fate.settle("left")
            raise PeerLeftError
        answer = reply if isinstance(reply, Answer) else reply(received)
        await _perform(wire, answer, head, received.fate)
        return head.keep and not early

    def _note(
        self, wire: Wire, index: int, head: Head, body: bytes, *, account: str, whole: bool, reply: Reply
    ) -> Received:
        """Log the request."""
        received = Received(
            account=account,
            method=head.method,
            path=head.path,
            headers=head.headers,
            body=body if self._keep or account == NOBODY else b"",  # instructions and logins, never load
            at=time.monotonic(),
            connection=wire.number,
            index=index,
            whole=whole,
            size=len(body),
            digest=digest(body),
            answer=reply.label if isinstance(reply, Answer) else reply.__name__,
            fate=Fate(),
        )
        self.requests.add(received)
        return received

    async def _body(self, wire: Wire, head: Head) -> tuple[bytes, bool]:
        try:
            return await wire.read_body(head), True
        except PeerLeftError:
            return wire.rest(), False

    def _take(self, account: str, path: str) -> Reply:
        queue = self._queues.get((account, path))
        return queue.popleft() if queue else self._defaults.get((account, path), unscripted)


async def _perform(wire: Wire, answer: Answer, head: Head, fate: Fate) -> None:
    """Send the answer step by step and settle the request's fate."""
    try:
        for step in answer.steps(head_only=head.method == "HEAD"):
            await wire.perform(step)
    except ScriptEndedError:
        fate.settle("answered" if answer.framing == "close" else "cut")
        raise
    except (PeerLeftError, asyncio.CancelledError):
        fate.settle("left")
        raise
    fate.settle("answered")


def closed_port() -> int:
    """A loopback port on which nothing listens."""
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
