"""The property list of a launchd agent: its text, and what such a text says. Pure.

Fact: launchd.plist(5).
"""

import plistlib
from collections.abc import Mapping
from xml.parsers.expat import ExpatError

from flowpool.launch.program import Program

LABEL = "io.github.flowpool.proxy"
MARK = "FLOWPOOL_SERVICE"  # tells the proxy who looks after it, and us that the file is ours


def agent(program: Program) -> bytes:
    """Return the text of the property list.

    -P: what lies in the agent's folder is no module of it. ThrottleInterval: launchd waits 10 s before it starts what failed again, unless it is told otherwise.
    """
    return plistlib.dumps(
        {
            "Label": LABEL,
            "ProgramArguments": [program.python, "-P", "-m", "flowpool", "serve"],
            "EnvironmentVariables": {**program.environment, MARK: "launchd"},
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": 1,
            "ExitTimeOut": round(program.stop_s),
            "ProcessType": "Interactive",
            "StandardErrorPath": str(program.log),
        }
    )


def environment(text: bytes) -> Mapping[str, str] | None:
    """Return the variables that an agent of ours sets, but for the mark; None when it is not one."""
    try:
        found = plistlib.loads(text)
    except (ValueError, ExpatError, plistlib.InvalidFileException):
        return None
    match found:
        case {"Label": label, "EnvironmentVariables": dict(variables)} if label == LABEL and MARK in variables:
            return {str(name): str(value) for name, value in variables.items() if name != MARK}
    return None
