"""Whether a Claude Code that is led to the pool has what it needs to ask: a login, or the placeholder where it has none."""

from collections.abc import Mapping
from pathlib import Path

from flowpool.findings import clientfiles, connected
from flowpool.findings.finding import Finding, fail, warn
from flowpool.findings.traps import HELPER
from flowpool.launch import connect
from flowpool.launch import placed as settings
from flowpool.launch.environment import BASE, KEYS, PLACED, TOKEN, is_at
from home.paths import Home

PART = "client login"
CONNECT, ENV = "flowpool connect", 'eval "$(flowpool env)"'


def placed(home: Home, variables: Mapping[str, str]) -> list[Finding]:
    """One line for each settings file, and for the shell, in which the placeholder is wrong or missing; none where nothing is."""
    usual = connect.usual()
    found = [_in_settings(file, variables, is_usual=file == usual) for file in connected.leading(home)]
    return [one for one in (*found, _in_the_shell(home, usual, variables)) if one]


def _in_settings(file: Path, variables: Mapping[str, str], *, is_usual: bool) -> Finding | None:
    mend = CONNECT if is_usual else f"{CONNECT} --settings {file}"
    lacks_login = settings.lacks_login(variables, None if is_usual else file)
    if settings.stands_in(file):
        over = f"{file} has flowpool's placeholder as {TOKEN}, which goes before the login that Claude Code has"
        return None if lacks_login else warn(PART, over, mend)
    if not lacks_login or settings.token(file) or _has_key(file, variables):
        return None
    return fail(PART, f'{file} points Claude Code at the pool, but it has no login: it says "Not logged in"', mend)


def _in_the_shell(home: Home, usual: Path, variables: Mapping[str, str]) -> Finding | None:
    lacks_login, token = settings.lacks_login(variables), variables.get(TOKEN, "")
    if token.endswith(PLACED) and not lacks_login:
        return warn(PART, f"{TOKEN} is flowpool's placeholder, which goes before the login that Claude Code has", ENV)
    if not lacks_login or token or settings.stands_in(usual) or _has_key(usual, variables):
        return None
    if not is_at(variables.get(BASE, ""), connect.addresses(home)):
        return None
    return fail(PART, f'{BASE} points Claude Code at the pool, but it has no login: it says "Not logged in"', ENV)


def _has_key(file: Path, variables: Mapping[str, str]) -> bool:
    """Tell whether it asks by a key instead, which another line is about."""
    found = clientfiles.read(file) or {}
    block = found.get("env")
    given = {**variables, **(block if isinstance(block, dict) else {})}
    return bool(found.get(HELPER)) or any(given.get(name) for name in KEYS)
