"""What our link `claude` runs: Claude Code, by way of the pool where that answers at once, else as if we were not there.

Run as `python -P -m flowpool.launch.linked ARGS`. It loads little, for it stands before every start of Claude Code.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from credentials.errors import CredentialError
from flowpool import health
from flowpool.errors import Failure
from flowpool.launch import binary, environment, management, precedence
from flowpool.launch.environment import Prepared
from flowpool.launch.precedence import Seen
from flowpool.launch.starting import become
from home import running
from home.checks import Address
from home.errors import HomeError
from home.paths import Home
from home.running import Running

PATIENCE = 0.5  # seconds for the proxy to answer
NOT_FOUND = 127  # what a shell ends with where there is no such program
CLAUDE = "claude"  # the listener for clients of its kind
LOOKS = 2  # at a proxy of which another takes over just now
WITHOUT = "Claude Code is started without the pool"


class _Aside(Exception):  # noqa: N818  # never leaves this module
    """Claude Code is started without the pool; the message says why."""


def main() -> int:
    """Start it; returns its code, where it did not take our place."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a console that cannot show a letter must not end the program
    try:
        return _started(sys.argv[1:], os.environ)
    except Failure as failure:
        _say(str(failure))
        return NOT_FOUND


def _started(arguments: Sequence[str], variables: Mapping[str, str]) -> int:
    try:
        home = Home.find(variables)
    except HomeError as error:
        _say(f"{WITHOUT}: {error}")
        return become(binary.find(variables, ours=None), arguments, variables)
    program = binary.find(variables, ours=home.link)
    if management.is_management(arguments):
        return become(program, arguments, variables)
    seen = precedence.look(arguments, variables, Path())
    keys = [name for name in environment.KEYS if {**variables, **seen.env}.get(name)]
    keys += [precedence.HELPER] if seen.helper else []
    if keys:
        _say(f"{WITHOUT}: {keys[0]} is set")
        return _aside(home, seen, program, arguments, variables)
    try:
        proxy = _proxy(home)
        return _routed(home, proxy, program, arguments, variables)
    except _Aside as why:
        _say(f"{WITHOUT}: {why}")
        return _aside(home, seen, program, arguments, variables)


def _proxy(home: Home) -> Running:
    """Return the proxy that runs and answers. Raises _Aside."""
    for _ in range(LOOKS):
        proxy = running.read(home.running)
        if proxy is None or CLAUDE not in proxy.listen:
            raise _Aside("no proxy runs; start one with: flowpool start")
        try:
            told = health.of(proxy.listen[CLAUDE], PATIENCE)
        except TimeoutError:
            raise _Aside(f"the proxy did not answer within {PATIENCE:g} s; run: flowpool doctor") from None
        if told is not None and told.is_draining:
            raise _Aside("the proxy is about to end; start it again with: flowpool start")
        if told is not None and told.pid == proxy.pid:
            return proxy
    raise _Aside("another program has the proxy's address; run: flowpool doctor")


def _routed(home: Home, proxy: Running, program: Path, arguments: Sequence[str], variables: Mapping[str, str]) -> int:
    """Start it by way of the pool. Raises _Aside, before anything was started, when a file of ours is not as it should be."""
    from flowpool.launch import launching  # noqa: PLC0415  # not needed to step aside
    from home import settings  # noqa: PLC0415

    try:
        chosen = settings.load(home.config)
        is_resumed = chosen.launch.resume_on_limit
        launch = launching.Launch(program=program, arguments=arguments, environ=variables, resumes=is_resumed)
        launching.need_account(home, launch)
        return launching.start(home, chosen, proxy, launch)
    except (HomeError, CredentialError, launching.NoAccountError) as error:
        raise _Aside(str(error).splitlines()[0]) from None


def _aside(home: Home, seen: Seen, program: Path, arguments: Sequence[str], variables: Mapping[str, str]) -> int:
    """Start it without an address of ours, at which nobody answers now, also where its settings name one."""
    listen = _listen(home)
    ready, values = precedence.ready(
        seen, variables, lambda environ: Prepared(values=environment.without_pool(environ, listen))
    )
    if not values:
        return become(program, arguments, ready.values)
    from flowpool.launch import overruling  # noqa: PLC0415  # settings of ours are seldom there

    try:
        passed = overruling.overruled(home, seen, values, arguments)
    except (Failure, HomeError, CredentialError) as error:
        _say(str(error).splitlines()[0])
        passed = tuple(arguments)
    for line in overruling.told(seen, values):
        _say(line)
    return become(program, passed, ready.values)


def _listen(home: Home) -> list[Address]:
    """Where the pool is asked, or was."""
    from home import settings  # noqa: PLC0415

    left = running.left(home.running)
    listen: list[Address] = [*left.listen.values()] if left else []
    with suppress(HomeError):
        listen.append(settings.load(home.config).listen.claude)
    return listen


def _say(line: str) -> None:
    sys.stderr.write(f"flowpool: {line}\n")


if __name__ == "__main__":
    sys.exit(main())
