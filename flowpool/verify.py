"""Asks the provider whether it accepts a secret, before the secret is kept.

The question goes the way that the proxy's requests go: straight to the upstream in config.toml, whatever the environment says of
proxies, and trusting the certificates that mitmproxy trusts. A redirect is an answer like any other: the secret goes nowhere else.
"""

import threading
from http import HTTPStatus
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from credentials.credential import API_KEY, LOGIN_FILE, OAUTH, SETUP_TOKEN, Credential
from flowpool.errors import Failure
from home.checks import is_loopback
from home.version import version
from routing.words import Account, Kind

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

    from providers.contract import Fields

PATIENCE = 10.0  # seconds for the whole question
LARGEST = 2**16  # bytes that are read of an answer
UNASKED = "not checked: its first request will tell"

_NAMES = {SETUP_TOKEN: "setup-token", OAUTH: "login", API_KEY: "API key"}
_ANEW = {
    SETUP_TOKEN: "make a new one with `claude setup-token`",
    OAUTH: "start `claude` once, which renews it",
    API_KEY: "make a new one",
}

type Answer = tuple[int, bytes]


def check(upstream: str, account: Account, credential: Credential, command: str) -> str:
    """Ask, and return what to say of it; raise Failure when the provider refuses the secret.

    upstream: as config.toml has it. command: what to run once more, but for its --kind.
    """
    from providers.anthropic import checks  # noqa: PLC0415  # the providers' code costs 100 ms

    secret = credential.access.reveal()
    try:
        status, body = _answer(upstream, checks.PATH, checks.question(Kind(credential.kind), secret))
    except _UnreachableError as error:
        return (
            f"not checked: {upstream} is unreachable ({checks.told(str(error), secret)}); its first request will tell"
        )
    found = checks.finding(status, body, secret)
    match found.standing:
        case checks.Standing.VALID:
            return "checked: accepted"
        case checks.Standing.LIMITED:
            return f"checked: not refused, but limited for now ({status})"
        case checks.Standing.UNKNOWN:
            return f"not checked: {upstream} answered {status}; its first request will tell"
        case checks.Standing.INVALID | checks.Standing.DISABLED:
            is_disabled = found.standing is checks.Standing.DISABLED
            why = f"{status}: {found.detail}" if found.detail else f"{status}"
            raise _refusal(account, command, why, is_disabled=is_disabled)


def _refusal(account: Account, command: str, why: str, *, is_disabled: bool) -> Failure:
    """The refusal with its way out. Nothing was saved."""
    again = f"{command} {LOGIN_FILE}" if account.kind == OAUTH else f"{command} --kind {account.kind}"
    name = _NAMES[account.kind]
    if is_disabled:
        return Failure(
            f"{account.provider} forbids this {name} ({why}), as when its organisation is disabled; nothing was saved; "
            f"use another organisation's, or keep this one with --no-verify; run: {again}"
        )
    return Failure(
        f"{account.provider} does not accept this {name} ({why}); nothing was saved; {_ANEW[account.kind]}, then run: {again}"
    )


class _UnreachableError(Exception):
    """No answer came; the text says why."""


def _answer(upstream: str, path: str, headers: "Fields") -> Answer:
    """Return status and body within PATIENCE, or raise _UnreachableError.

    On a thread, for a name that nobody resolves and an answer that drips would each outlast a socket's own patience.
    """
    arrived = SimpleQueue[Answer | _UnreachableError]()
    threading.Thread(target=lambda: arrived.put(_ask(upstream, path, headers)), daemon=True).start()
    try:
        answer = arrived.get(timeout=PATIENCE)
    except Empty:
        answer = _late()
    if isinstance(answer, _UnreachableError):
        raise answer
    return answer


def _ask(upstream: str, path: str, headers: "Fields") -> Answer | _UnreachableError:
    from http.client import HTTPException  # noqa: PLC0415

    connection = _connection(urlsplit(upstream))
    try:
        fields = {"Accept": "application/json", "User-Agent": f"flowpool/{version()}", "Connection": "close"}
        connection.request("GET", path, headers=fields | dict(headers))
        with connection.getresponse() as answer:
            return answer.status, b"" if answer.status == HTTPStatus.OK else _body(answer)
    except TimeoutError:
        return _late()
    except OSError as error:
        return _UnreachableError(getattr(error, "verify_message", "") or error.strerror or type(error).__name__)
    except (HTTPException, ValueError) as error:  # the error's own text may quote a header
        return _UnreachableError(f"what answers there is no HTTP: {type(error).__name__}")
    finally:
        connection.close()


def _body(answer: "HTTPResponse") -> bytes:
    """What a refusal says; the status counts also when that breaks off."""
    from http.client import HTTPException  # noqa: PLC0415

    try:
        return answer.read(LARGEST)
    except (OSError, HTTPException, ValueError):
        return b""


def _connection(at: SplitResult) -> "HTTPConnection":
    from http.client import HTTPConnection, HTTPSConnection  # noqa: PLC0415

    host = at.hostname or ""
    if at.scheme == "http" and is_loopback(host):
        return HTTPConnection(host, at.port, timeout=PATIENCE)
    import ssl  # noqa: PLC0415

    import certifi  # noqa: PLC0415

    context = ssl.create_default_context(cafile=certifi.where())
    return HTTPSConnection(host, at.port, timeout=PATIENCE, context=context)


def _late() -> _UnreachableError:
    return _UnreachableError(f"no answer within {PATIENCE:g} s")
