"""The address where clients find us: who has it, and whether our proxy answers there."""

import json
import shlex
import sys

from credentials.errors import CredentialError
from credentials.loopback import is_loopback
from flowpool import ask, proxy
from flowpool.addresses import reachable
from flowpool.errors import Failure
from flowpool.findings.finding import Finding, editing, fail, ok, skip, told, warn
from flowpool.proxy import Proxy
from home import ports
from home.checks import Address
from home.errors import HomeError
from home.paths import Home
from home.version import version

PORT, PROXY, EXPOSURE = "port", "proxy", "exposure"
HEALTH, STATUS = "/_flowpool/health", "/_flowpool/status"
START, AGAIN = "flowpool start", "flowpool restart"
HERE = "flowpool doctor"  # where a person is sent who is here already
PATIENCE = 2.0  # seconds; a proxy that is well answers within milliseconds


def running(home: Home) -> tuple[Address | None, Finding]:
    """Ask this home's proxy how it is; return where it listens, None when there is none."""
    try:
        found = proxy.find(home)
        data = found.get(HEALTH) and found.get(STATUS) if found else None
    except (Failure, HomeError, CredentialError) as error:
        problem, mend = told(error, AGAIN)
        return None, fail(PROXY, problem.removesuffix(f", else run: {AGAIN}"), mend)
    if found is None or data is None:
        return None, skip(PROXY, "not running", START)
    return found.address, _health(found, data)


def _health(found: Proxy, data: bytes) -> Finding:
    try:
        document = json.loads(data)
        theirs, notices = str(document["version"]), [str(one) for one in document.get("notices", [])]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return fail(PROXY, f"what listens at {found.address} does not answer as flowpool does", AGAIN)
    if theirs != version():
        return warn(PROXY, f"pid {found.pid} runs flowpool {theirs}, and this is {version()}", AGAIN)
    if notices:
        said, _, mend = notices[0].partition("; run: ")
        return warn(PROXY, f"pid {found.pid} says: {said}", mend if mend not in ("", HERE) else "flowpool status")
    return ok(PROXY, f"pid {found.pid}, flowpool {theirs}, answers at {found.address}")


def port(listen: Address, ours: Address | None, home: Home) -> Finding:
    """Whether the address of config.toml is free, or our own proxy's."""
    if ours == listen or (ours and listen.port == 0):
        return ok(PORT, f"{ours} is this pool's proxy")
    if why := ports.unfit(listen):
        elsewhere = f"set another address as [listen] claude in {home.config}"
        return fail(PORT, f"nobody can listen at {listen} here: {why}; {elsewhere}", editing(home.config))
    if not ports.is_taken(listen):
        return ok(PORT, f"{listen} is free")
    holder = ports.holder(listen.port)
    who = "a flowpool of another FLOWPOOL_HOME, " if _is_flowpool(listen) else ""
    elsewhere = f"set another address as [listen] claude in {home.config}, or end that program"
    mend = f"kill {holder[1]}" if holder else _listeners(listen.port)
    return fail(PORT, f"{listen} is taken by {who}{ports.owner(listen.port)}; {elsewhere}", mend)


def _is_flowpool(listen: Address) -> bool:
    try:
        code, body = ask.get(reachable(listen), HEALTH, {}, PATIENCE)
    except (OSError, ValueError):
        return False
    return code == proxy.OK and b'"status": "ok"' in body


def _listeners(number: int) -> str:
    """Return the command that shows who listens, where only the machine's owner may see that."""
    if sys.platform == "win32":
        return "netstat -ano -p TCP"
    return f"sudo lsof -nP -iTCP:{number} -sTCP:LISTEN"


def exposure(listen: Address, home: Home, *, is_keyed: bool = False) -> Finding:
    """Whether other machines can reach the address. is_keyed: those are served that show a key."""
    if is_loopback(listen.host):
        return ok(EXPOSURE, "only this machine can reach the proxy")
    inside = shlex.quote(f"127.0.0.1:{listen.port}")
    answered = "only programs of this one are answered"
    if is_keyed:
        answered = "who shows the key is answered, over plain http that others on the way can read"
    problem = f"{listen} is open to other machines, {'and' if is_keyed else 'though'} {answered}"
    return warn(EXPOSURE, f"{problem}; set [listen] claude to {inside}", editing(home.config))
