"""The placeholder in Claude Code's settings, for a Claude Code that has no login of its own. It is nobody's token."""

from collections.abc import Mapping
from pathlib import Path

from credentials.errors import CredentialError
from flowpool.launch import environment, foreign, precedence
from flowpool.launch.jsonc import Malformed
from flowpool.launch.jsonc_edit import raw
from flowpool.launch.logged_in import has_login
from flowpool.launch.precedence import SOURCES, USER
from flowpool.launch.wishes import TOKEN
from home import clientlogin


def lacks_login(variables: Mapping[str, str], file: Path | None = None) -> bool:
    """Tell whether this person's Claude Code has no login, wherever it is started; False also where that cannot be told.

    Settings may have a token of the person's own, which is one. file: settings that are elsewhere, beside which there may be a login.
    """
    seen = precedence.look((SOURCES, USER), variables, Path())
    if any(has_login(environment.undone(one)) for one in (variables, {**variables, **seen.env})):
        return False
    return file is None or not has_login({clientlogin.VARIABLE: str(file.parent)})


def stands_in(file: Path) -> bool:
    """Tell whether settings have the placeholder; False where they cannot be read."""
    return token(file).endswith(f'{environment.PLACED}"')


def token(file: Path) -> str:
    """Return the JSON text of the token in settings; empty where there is none, or they cannot be read."""
    try:
        data = foreign.read(file)
        return raw(data.decode(), TOKEN) or "" if data else ""
    except (CredentialError, Malformed, ValueError):
        return ""
