"""Values for the tests of addons: real accounts and credentials, and flows as mitmproxy makes them in our mode."""

import json
from collections.abc import Iterable
from typing import Any

from mitmproxy import http
from mitmproxy.proxy.mode_specs import ProxyMode
from mitmproxy.test import tflow

from addons.exchange import EXCHANGES, Exchange, Path
from addons.sign import Signer
from credentials.credential import Credential
from credentials.secret import Secret
from home.settings import Settings
from providers.anthropic import ANTHROPIC
from routing.words import Account, AccountId, Kind
from tests.upstream.answer import Answer

CLIENT_TOKEN = "sk-ant-oat01-the-clients-own-token"
UPSTREAM = ("https", "api.anthropic.com", 443)
MODE = "reverse:https://api.anthropic.com@127.0.0.1:3456"
HEADERS = (
    (b"Host", b"127.0.0.1:3456"),
    (b"authorization", f"Bearer {CLIENT_TOKEN}".encode()),
    (b"X-Claude-Code-Session-Id", b"session-1"),
    (b"content-type", b"application/json"),
)
SETTINGS = Settings()

type Fields = Iterable[tuple[bytes, bytes]]


def token(name: str) -> str:
    """The secret of an account."""
    return f"sk-ant-planted-{name}-0123456789"


def accounts(*names: str, kind: Kind = Kind.OAUTH, enabled: bool = True) -> dict[AccountId, Account]:
    """Accounts that are asked in this order."""
    made = (
        Account(id=AccountId(name), name=name, provider="anthropic", kind=kind, enabled=enabled, rank=rank)
        for rank, name in enumerate(names, 1)
    )
    return {account.id: account for account in made}


def signer(pool: dict[AccountId, Account], *, without: Iterable[str] = ()) -> Signer:
    """A signer that has every account's secret but for some."""
    have = (account for account in pool.values() if account.id not in set(without))
    secrets = {a.id: Credential(kind=a.kind.value, access=Secret(token(a.name))) for a in have}
    return Signer(pool, secrets)


def body(model: str = "claude-opus-5-5", **fields: Any) -> bytes:
    """A turn's body."""
    said = [{"role": "user", "content": "hello"}]
    return json.dumps({"model": model, "max_tokens": 64, "stream": True, "messages": said, **fields}).encode()


def request(
    method: str = "POST", path: str = "/v1/messages", *, headers: Fields = HEADERS, content: bytes | None = None
) -> http.Request:
    """A request as mitmproxy reads it in reverse mode."""
    made = http.Request.make(method, "https://api.anthropic.com/", body() if content is None else content)
    made.headers = http.Headers(tuple(headers))
    made.path = path
    return made


def flow(made: http.Request | None = None, *, mode: str = MODE, peer: str = "127.0.0.1") -> http.HTTPFlow:
    """A live flow without an answer."""
    client = tflow.tclient_conn()
    client.proxy_mode = ProxyMode.parse(mode)
    client.peername, client.sockname = (peer, 50_000), ("127.0.0.1", 3456)
    return tflow.tflow(client_conn=client, req=request() if made is None else made)


def exchange(path: Path = Path.POOLED, **fields: Any) -> Exchange:
    """An exchange with the vendor whose API the tests speak."""
    made = Exchange(provider=ANTHROPIC, path=path)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def known(made: http.HTTPFlow, path: Path = Path.POOLED, **fields: Any) -> Exchange:
    """The exchange of a flow, as admission leaves it."""
    EXCHANGES[made] = exchange(path, **fields)
    return EXCHANGES[made]


def head(answer: Answer) -> http.Response:
    """The head of an upstream's answer."""
    response = http.Response.make(answer.status)
    response.headers = http.Headers([(n.encode(), v.encode()) for n, v in answer.headers])
    response.data.content = None
    return response


def error_of(response: http.Response | None) -> tuple[int, str, str]:
    """Status, type and message of an error in the vendor's shape."""
    assert response is not None
    document = json.loads(response.content or b"")
    assert document["type"] == "error"
    return response.status_code, document["error"]["type"], document["error"]["message"]
