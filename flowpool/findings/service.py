"""Whether the system starts the proxy, and by a file that this flowpool would write."""

from credentials.errors import CredentialError
from flowpool.errors import Failure
from flowpool.findings import connected
from flowpool.findings.finding import Finding, ok, skip, told, warn
from flowpool.launch import installed, managers
from flowpool.launch.binary import is_link
from flowpool.launch.manager import Manager
from home.paths import Home

PART = "service"
SETUP = "flowpool setup"


def service(home: Home) -> Finding:
    """One line; a person who starts the proxy by hand is not blamed."""
    make = managers.own()
    if make is None:
        return skip(PART, "this system has none for one person's own programs")
    manager = make(home)
    try:
        text = installed.read(manager)
        if text is None:
            return _none(home)
        other = installed.differs(home, manager, text)
        return warn(PART, f"{manager.path}: {other.what}", other.mend) if other else _standing(manager)
    except (Failure, CredentialError) as error:
        return warn(PART, *told(error, "flowpool service status"))


def _none(home: Home) -> Finding:
    if is_link(home.link) or connected.leading(home):
        return skip(PART, "none is installed: you start the proxy yourself", installed.RENEW)
    what = "neither a service nor the link is there: you start the proxy, and point Claude Code at it, yourself"
    return skip(PART, what, SETUP)


def _standing(manager: Manager) -> Finding:
    standing = manager.look()
    if not standing.is_running:
        return warn(PART, f"{manager.name} does not run it: {standing.word}", "flowpool service logs")
    if not standing.is_enabled:
        return warn(PART, f"{manager.name} runs it, but will not start it by itself", installed.RENEW)
    return ok(PART, f"{manager.name} runs it, pid {standing.pid}")
