"""Bodies: what pooled requests and their answers said, taken down for the folder of whole exchanges, `[log] bodies`."""

import logging
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path as File

from mitmproxy import http

from addons.bodywriter import BodyWriter
from addons.exchange import EXCHANGES, Answered, AttemptEnd, Exchange, Failed, Path
from addons.exchangetext import Told
from addons.masking import secrets_of
from addons.record import SLACK, Message, Record, Tried
from credentials.credential import Credential
from home.bodies import Shelf
from home.tables import Log
from providers.contract import ErrorEvent
from routing.words import Account, AccountId

KIB, MIB = 1024, 1024 * 1024

logger = logging.getLogger(__name__)


class Bodies:
    """Takes down each pooled exchange as it passes. Stands before the addon that judges attempts, and before the request log."""

    name = "flowpool_bodies"

    def __init__(
        self, log: Log, accounts: Mapping[AccountId, Account], credentials: Mapping[AccountId, Credential]
    ) -> None:
        folder = File(log.bodies).expanduser()
        self._most = int(log.body_kib * KIB) + SLACK
        self._accounts = accounts
        self._credentials = credentials
        self._writer = BodyWriter(folder, Shelf(folder, int(log.bodies_mib * MIB), timedelta(days=log.bodies_days)))

    def load(self, _loader: object) -> None:
        """Begin to write."""
        self._writer.start()

    def done(self) -> None:
        """Write the last ones."""
        self._writer.stop()

    def request(self, flow: http.HTTPFlow) -> None:
        """The request is whole: what follows is taken down, if it is a pooled one."""
        exchange = EXCHANGES.get(flow)
        if exchange is None or exchange.path is not Path.POOLED or exchange.record is not None:
            return
        content = flow.request.raw_content or b""
        start = f"{flow.request.method} {flow.request.path}"
        fields, kept = flow.request.headers.fields, content[: self._most]
        request = Message(start=start, fields=fields, body=kept, size=len(content))
        exchange.record = Record(most=self._most, request=request)

    def flowpool_attempt(self, flow: http.HTTPFlow) -> None:
        """An attempt has ended, unless the one that was noted last is still being thought about."""
        exchange = EXCHANGES.get(flow)
        if exchange is None or exchange.record is None or exchange.end is None:
            return
        record, end = exchange.record, exchange.end
        if record.seen is end:
            return
        record.seen = end
        event = b"event: error\ndata: " + end.data + b"\n\n" if isinstance(end, ErrorEvent) else None
        record.tried.append(
            Tried(
                at=exchange.sent_at,
                answer=_message(flow.response, record, event),
                note=_note(end),
                source=flow.response,
                secret=exchange.signed,
            )
        )

    def response(self, flow: http.HTTPFlow) -> None:
        """The client has its answer."""
        self._got(flow)

    def error(self, flow: http.HTTPFlow) -> None:
        """The exchange ended without one, or in the middle of it."""
        self._got(flow)

    def _got(self, flow: http.HTTPFlow) -> None:
        exchange = EXCHANGES.get(flow)
        if exchange is None or exchange.record is None or exchange.is_logged:
            return
        record = exchange.record
        record.got, record.source = _message(flow.response, record, None), flow.response
        if record.streamed and record.got is not None:
            kept = b"".join(record.chunks)[: record.most]
            record.got = Message(start=record.got.start, fields=record.got.fields, body=kept, size=record.streamed)
        record.chunks.clear()

    def ended(self, line: dict[str, object], exchange: Exchange) -> None:
        """The exchange is over, and this is its line of the request log; what goes wrong here is not the client's business."""
        record, exchange.record = exchange.record, None
        if record is not None:
            try:
                self._put(line, record, exchange)
            except Exception:
                logger.exception("flowpool: an exchange cannot be taken down")

    def _put(self, line: dict[str, object], record: Record, exchange: Exchange) -> None:
        record.settle()
        attempts = tuple((self._name(attempt.account), attempt) for attempt in exchange.trail.attempts)
        secrets = frozenset(self._secrets(exchange, record))
        self._writer.put(Told(line=line, record=record, attempts=attempts, secrets=secrets))

    def _name(self, account: AccountId) -> str:
        known = self._accounts.get(account)
        return known.name if known else account

    def _secrets(self, exchange: Exchange, record: Record) -> Iterator[bytes]:
        """All that may not be written: the client's own, those that went out, and those of the pool as it stands."""
        yield from secrets_of((*exchange.own, (b"", exchange.key.encode(errors="surrogateescape"))))
        for secret in (exchange.signed, *(tried.secret for tried in record.tried)):
            if secret is not None:
                yield secret.reveal().encode()
        for credential in self._credentials.values():
            yield credential.access.reveal().encode()
            if credential.refresh is not None:
                yield credential.refresh.reveal().encode()


def _message(response: http.Response | None, record: Record, event: bytes | None) -> Message | None:
    """A response as it is taken down. event: what stands for a body that is a stream behind the gate."""
    if response is None:
        return None
    content = event if event is not None else response.raw_content
    start = f"{response.status_code} {response.reason}".strip()
    return Message(start=start, fields=response.headers.fields, body=record.body(content), size=len(content or b""))


def _note(end: AttemptEnd) -> str:
    match end:
        case Failed(why=why):
            return why
        case Answered(unread=True):
            return "its body was not read"
        case Answered(broken=True):
            return "it broke off"
        case Answered():
            return ""
        case ErrorEvent():
            return "its stream began with this error"
