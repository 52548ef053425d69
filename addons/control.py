"""Control: everything under /_flowpool/ is answered here and never forwarded."""

import asyncio
import hmac
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs

from mitmproxy import http

from addons.accounts import Accounts
from addons.exchange import EXCHANGES, Exchange, Path
from addons.guard import fail_closed
from addons.life import CannotRestartError, Life
from addons.recent import KEPT, Recent
from addons.replies import own, response_of
from credentials.secret import Secret
from home.state.errors import StateError
from providers.contract import Reply
from routing.sessions import Meant, meant
from routing.words import AccountId

HEALTH = "/_flowpool/health"
STATUS = "/_flowpool/status"
REQUESTS = "/_flowpool/requests"
WHY = "/_flowpool/why"
RELOAD = "/_flowpool/reload"
LIFT = "/_flowpool/lift"
PIN = "/_flowpool/pin"
STOP = "/_flowpool/stop"
RESTART = "/_flowpool/restart"
INSTRUCTIONS = frozenset({RELOAD, LIFT, PIN, STOP, RESTART})
LARGEST = 65_536  # bytes of an instruction
LONGEST = 64  # letters of an id
MOST = 1000  # accounts that one instruction names
STORIES = 5  # told at once, of requests whose ids begin alike


class BadInstruction(Exception):  # noqa: N818 - reads as the fact it states
    """What was asked makes no sense; the message says what would."""


class Control:
    """Answers the command line and whoever looks after the proxy."""

    name = "flowpool_control"

    def __init__(
        self,
        key: Secret,
        status: Callable[[datetime], dict[str, Any]],
        accounts: Accounts,
        recent: Recent,
        notices: Callable[[], Iterable[str]] = tuple,
        *,
        life: Life,
        find: Callable[[str, int], list[dict[str, Any]]] = lambda _beginning, _most: [],
        sessions: Callable[[], Iterable[str]] = tuple,
        conversations: Callable[[str], Iterable[str]] = lambda _beginning: (),
    ) -> None:
        """notices: what a person should know besides what is wrong with the files. find: stories of requests, see addons/decisions.py.

        sessions: ids that the proxy knows. conversations: those of the state that begin so; it may take a while.
        """
        self._key = key
        self._status = status
        self._accounts = accounts
        self._recent = recent
        self._notices = notices
        self._find = find
        self._sessions = sessions
        self._conversations = conversations
        self._life = life

    @fail_closed
    async def request(self, flow: http.HTTPFlow) -> None:
        """Answer a request for one of our own paths."""
        exchange = EXCHANGES.get(flow)
        if exchange is None or exchange.path is not Path.LOCAL or flow.response is not None:
            return
        path, _, query = flow.request.path.partition("?")
        is_instruction = flow.request.method == "POST" and path in INSTRUCTIONS
        if flow.request.method not in {"GET", "HEAD"} and not is_instruction:
            flow.response = self._unknown(exchange)
        elif path == HEALTH:
            status, told = self._life.health()
            flow.response = _json(told, status)
        elif not hmac.compare_digest(exchange.key.encode("utf-8", "surrogateescape"), self._key.reveal().encode()):
            exchange.answer = "E"
            message = "the header x-flowpool-key is missing or wrong: its value is in control.key in flowpool's folder"
            flow.response = own(exchange, 400, message, retry=False)
        else:
            try:
                document = await self._follow(path, flow.request) if is_instruction else self._show(path, query)
                flow.response = self._unknown(exchange) if document is None else _json(document)
            except BadInstruction as error:
                flow.response = own(exchange, 400, str(error), retry=False)

    def _show(self, path: str, query: str) -> dict[str, Any] | None:
        """What may be read here; None when there is nothing."""
        if path == STATUS:
            return self._status(datetime.now(UTC)) | {"notices": [*self._accounts.faults, *self._notices()]}
        asked = {name: values[-1] for name, values in parse_qs(query).items()}
        if path == WHY:
            return {"stories": self._find(_beginning(asked.get("id", "")), STORIES)}
        if path != REQUESTS:
            return None
        if "after" in asked:
            return {"requests": self._recent.after(asked["after"])}
        return {"requests": self._recent.last(_count(asked.get("last", str(KEPT))))}

    async def _follow(self, path: str, request: http.Request) -> dict[str, Any]:
        """Do what an instruction says."""
        body = _body(request.raw_content or b"")
        if path == RELOAD:
            return {"reloaded": await self._accounts.reload(), "notices": list(self._accounts.faults)}
        if path == PIN:
            return await self._pin(body)
        if path in (STOP, RESTART):
            return await self._end(path, body)
        return {"lifted": self._accounts.lift(_ids(body.get("accounts")))}

    async def _end(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Stop ({"now": true}: without waiting for what is in flight), or let another process take over."""
        if path == STOP:
            return dict(self._life.stop(now=body.get("now") is True))
        try:
            return dict(await self._life.restart())
        except CannotRestartError as error:
            raise BadInstruction(str(error)) from None

    async def _pin(self, body: dict[str, Any]) -> dict[str, Any]:
        """Take a wish, and show how all of them stand now; session: whose it is, is_known: whether a request of it came."""
        try:
            wish, told = self._accounts.pinned(body), dict[str, Any]()
            if wish.session is not None:
                whose = await self._meant(wish.session)
                wish, told = replace(wish, session=whose.id), {"session": whose.id, "is_known": whose.is_known}
        except ValueError as error:
            raise BadInstruction(str(error)) from None
        self._accounts.pin(wish)
        return {"pins": self._pins(), **told}

    async def _meant(self, typed: str) -> Meant:
        """Whose id a person typed. Raises ValueError."""
        try:
            kept = await asyncio.to_thread(self._conversations, typed)
        except StateError:  # what the proxy remembers itself must do
            kept = ()
        pinned = [str(pin["session"]) for pin in self._pins() if pin["session"]]
        return meant(typed, [*self._sessions(), *kept, *pinned])

    def _pins(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._status(datetime.now(UTC)).get("pins", [])
        return found

    def _unknown(self, exchange: Exchange) -> http.Response:
        exchange.answer = "F"
        return own(exchange, 404, "flowpool has nothing under this path", retry=False)


def _body(data: bytes) -> dict[str, Any]:
    if len(data) > LARGEST:
        raise BadInstruction(f"an instruction has at most {LARGEST} bytes")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BadInstruction("an instruction is a JSON object")
    return found


def _ids(value: Any) -> list[AccountId]:
    if not isinstance(value, list) or not 0 < len(value) <= MOST:
        raise BadInstruction(f'"accounts" must be a list of 1 to {MOST} ids')
    if not all(isinstance(one, str) and 0 < len(one) <= LONGEST for one in value):
        raise BadInstruction(f'"accounts" must hold ids of at most {LONGEST} letters')
    return [AccountId(one) for one in value]


def _beginning(text: str) -> str:
    if not 0 < len(text) <= LONGEST:
        raise BadInstruction(
            f'"id" must be the id of a request, its beginning, or "last", of at most {LONGEST} letters'
        )
    return text


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(KEPT))):
        raise BadInstruction(f'"last" must be a whole number up to {KEPT}')
    return int(text)


def _json(document: dict[str, Any], status: int = 200) -> http.Response:
    headers = (("content-type", "application/json"), ("cache-control", "no-store"))
    return response_of(Reply(status=status, headers=headers, body=json.dumps(document).encode()))
