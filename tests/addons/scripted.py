"""What drives the replaying layers by a script: requests and answers as bytes, and addons that say what comes next."""

import collections
from collections.abc import Callable
from typing import Any

from mitmproxy import connection, http, options
from mitmproxy.proxy import context
from mitmproxy.proxy.layers import http as layers

from addons.events import Woke
from addons.exchange import EXCHANGES, Course, Exchange, Path, Step
from home.tables import Limits
from routing.words import AccountId
from tests.addons.made import accounts, known, signer
from tests.addons.transcript import Clock, Transcript
from tests.upstream import ok
from tests.upstream.answer import Answer

POST = (
    b"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:3456\r\nAuthorization: Bearer client-secret\r\n"
    b"Content-Length: 4\r\n\r\nbody"
)
GET = b"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:3456\r\n\r\n"
HEAD = GET.replace(b"GET", b"HEAD")
REFUSED = b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 2\r\n\r\nno"
GOOD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
TURN = ok("one two")
BODY = TURN.body
WORK, HOME = AccountId("work"), AccountId("home")

type Say = Callable[[http.HTTPFlow, Exchange], None]


def chunk(data: bytes) -> bytes:
    """Bytes as one chunk of a body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def wire(answer: Answer) -> bytes:
    """An answer as it comes over the wire."""
    return b"".join(step.data for step in answer.steps() if hasattr(step, "data"))


def unchunked(got: bytes) -> bytes:
    """The body of a chunked answer that is whole."""
    _, _, rest = got.partition(b"\r\n\r\n")
    body = b""
    while True:
        size, _, rest = rest.partition(b"\r\n")
        if int(size, 16) == 0:
            assert rest == b"\r\n"
            return body
        body, rest = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]


class Script:
    """The other addons' part, said in advance: the course of each answer and the step after each attempt's end."""

    def __init__(self, *steps: Step, course: Course = Course.WHOLE, path: Path = Path.POOLED, **limits: Any) -> None:
        self.steps, self.course, self.path = collections.deque(steps), course, path
        self.limits = Limits(**limits)
        self.ends: list[Any] = []
        self.say: Say = lambda _flow, _exchange: None
        self.flow: http.HTTPFlow | None = None

    @property
    def exchange(self) -> Exchange:
        """The newest exchange."""
        assert self.flow is not None
        return EXCHANGES[self.flow]

    def requestheaders(self, flow: http.HTTPFlow) -> None:
        """Open the exchange."""
        self.flow = flow
        known(flow, self.path, limits=self.limits, account=WORK)

    def responseheaders(self, flow: http.HTTPFlow) -> None:
        """Choose the course."""
        EXCHANGES[flow].course = self.course

    def flowpool_attempt(self, flow: http.HTTPFlow) -> None:
        """Note how the attempt ended and say what comes next."""
        self.ends.append(EXCHANGES[flow].end)
        EXCHANGES[flow].step = self.steps.popleft()
        self.say(flow, EXCHANGES[flow])


def talk(script: Script, clock: Clock, **kwargs: Any) -> Transcript:
    """A client's connection whose addons follow a script."""
    return Transcript(signer(accounts("work", "home")), script, clock=clock, **kwargs)


def woken(made: Transcript) -> Transcript:
    """The machine slept, and the connection is told."""
    return made._feed(Woke())


def plain_layer(opts: options.Options | None = None) -> layers.HttpLayer:
    """The HTTP layer as mitmproxy makes it."""
    made = context.Context(connection.Client(peername=("", 0), sockname=("", 0)), opts or options.Options())
    return layers.HttpLayer(made, layers.HTTPMode.regular)
