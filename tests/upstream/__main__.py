"""The fake upstream as a program, for the demo and for load: `python -m tests.upstream --account work=TOKEN`.

Prints one line with its URL and serves until its standard input closes or it is told to stop (SIGTERM, Ctrl-C).
It is scripted over HTTP under /_upstream/, each a POST of JSON:

    script   {"account": "work", "answers": [{"call": "limit", "args": ["7d"], "kwargs": {"resets_in": 60}}, ...]}
    default  {"account": "work", "answers": [{"call": "ok", "args": ["hi"], "then": [["gap", 0.2]]}]}
    release  {"gate": "name"}      hold {"gate": "name"}      reset {}
    requests {}  -> a list, without header values and bodies
    issue    {"account": "work"}   -> {"login": "…"}, the login file of a new pair; its token endpoint is /v1/oauth/token
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from typing import Any

from tests import upstream as builders
from tests.upstream.answer import Answer, as_json
from tests.upstream.door import NOBODY
from tests.upstream.received import Received
from tests.upstream.server import INSTRUCTIONS, Upstream
from tests.upstream.vendor import TokenEndpoint


def build(said: dict[str, Any]) -> Answer:
    """The answer that a builder's name, its arguments and the methods after it describe."""
    answer = getattr(builders, said["call"])(*said.get("args", ()), **said.get("kwargs", {}))
    for name, *args in said.get("then", ()):
        kwargs = args.pop() if args and isinstance(args[-1], dict) else {}
        answer = getattr(answer, name)(*args, **kwargs)
    if not isinstance(answer, Answer):
        raise TypeError(f"{said['call']} builds no answer")
    return answer


def obey(upstream: Upstream, endpoint: TokenEndpoint, name: str, said: dict[str, Any]) -> object:
    """Carry out one instruction and return what to answer."""
    match name:
        case "script":
            where = {"path": said["path"]} if "path" in said else {}
            upstream.script(said["account"], *map(build, said["answers"]), **where)
        case "default":
            upstream.default(said["account"], build(said["answers"][0]))
        case "release":
            upstream.release(said["gate"])
        case "hold":
            upstream.hold(said["gate"])
        case "requests":
            return [received.public() for received in upstream.requests if not received.path.startswith(INSTRUCTIONS)]
        case "issue":
            return {"login": endpoint.login_file(endpoint.issue(said["account"]))}
        case "reset":
            upstream.reset()
            endpoint.teach()
            teach(upstream, endpoint)
        case _:
            raise LookupError(name)
    return {"done": name}


def teach(upstream: Upstream, endpoint: TokenEndpoint) -> None:
    """Let the server answer instructions."""

    def answer(received: Received) -> Answer:
        name = received.path.rpartition("/")[2]
        try:
            return as_json(name, obey(upstream, endpoint, name, received.json()))
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            return as_json(name, {"error": f"{type(error).__name__}: {error}"}, status=400)

    for name in ("script", "default", "release", "hold", "requests", "issue", "reset"):
        upstream.default(NOBODY, answer, path=f"{INSTRUCTIONS}{name}")


def main() -> None:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.upstream", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--port", type=int, default=0, help="0 takes any free port")
    parser.add_argument("--account", action="append", default=[], metavar="NAME=TOKEN", help="may be repeated")
    parser.add_argument("--no-bodies", action="store_true", help="keep only size and digest of bodies, for load")
    chosen = parser.parse_args()
    accounts = dict(pair.split("=", 1) for pair in chosen.account)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    threading.Thread(target=_wait_for_end, args=(stop,), daemon=True).start()
    with Upstream(accounts, port=chosen.port, keep_bodies=not chosen.no_bodies) as upstream:
        teach(upstream, TokenEndpoint(upstream))
        print(upstream.url, flush=True)  # noqa: T201  the one line it promises
        stop.wait()


def _wait_for_end(stop: threading.Event) -> None:
    """Stop when whoever started the program closes its input or dies."""
    sys.stdin.read()
    stop.set()


if __name__ == "__main__":
    main()
