"""What in the environment, or in Claude Code's settings, makes it use another credential or another address."""

import shlex
import sys
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from flowpool.addresses import reachable
from flowpool.findings import clientfiles
from flowpool.findings.finding import Finding, editing, ok, warn
from flowpool.launch.environment import PLACED
from home.checks import Address
from home.clientlogin import Place

PART = "environment"
BASE = "ANTHROPIC_BASE_URL"
HELPER = "apiKeyHelper"
CREDENTIALS = {  # variable: what Claude Code does with it
    "ANTHROPIC_API_KEY": "Claude Code pays per token with it instead of using its login",
    "ANTHROPIC_AUTH_TOKEN": "Claude Code sends it instead of its login",
    "CLAUDE_CODE_OAUTH_TOKEN": "Claude Code uses it instead of its login",
}


def traps(variables: Mapping[str, str], place: Place, listen: Address | None) -> list[Finding]:
    """One line for each trap; their values are never shown. listen: where clients find us, None when that is not known."""
    found = [*_in_the_shell(variables, listen), *_in_the_settings(place, listen)]
    return found or [ok(PART, "nothing turns Claude Code away from its login or from the pool")]


def _in_the_shell(variables: Mapping[str, str], listen: Address | None) -> Iterator[Finding]:
    for name, value in variables.items():
        if name in CREDENTIALS and value and not value.endswith(PLACED):
            yield warn(PART, f"{name} is set: {CREDENTIALS[name]}", _unset(name))
        elif name == BASE and _is_elsewhere(value, listen):
            yield warn(PART, f"{BASE} does not point at the pool", 'eval "$(flowpool env)"')


def _in_the_settings(place: Place, listen: Address | None) -> Iterator[Finding]:
    path = clientfiles.settings(place)
    found = clientfiles.read(path)
    if found is None:
        yield warn(PART, f"{path} cannot be read, or is not valid JSON", editing(path))
        return
    if found.get(HELPER):
        yield warn(PART, f"{HELPER} in {path}: Claude Code asks it for a key instead of using its login", editing(path))
    block = found.get("env")
    for name, value in block.items() if isinstance(block, dict) else ():
        if name in CREDENTIALS and value and not str(value).endswith(PLACED):
            yield warn(PART, f"{name} in {path}: {CREDENTIALS[name]}", editing(path))
        elif name == BASE and _is_elsewhere(str(value), listen):
            yield warn(PART, f"{BASE} in {path} does not point at the pool", editing(path))


def _is_elsewhere(value: str, listen: Address | None) -> bool:
    """Tell whether an address, if there is one, is known not to be ours."""
    if not value or listen is None or listen.port == 0:
        return False
    try:
        parts = urlsplit(value)
        there = parts.hostname or "", parts.port
    except ValueError:
        return True
    ours = reachable(listen)
    return there not in {(ours.host, ours.port), ("localhost", ours.port)}


def _unset(name: str) -> str:
    if sys.platform == "win32":
        return f"Remove-Item Env:{name}"
    return f"unset {shlex.quote(name)}"
