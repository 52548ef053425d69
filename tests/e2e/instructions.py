"""Instructions to a running proxy, as the command line gives them."""

import http.client
import json
from typing import Any

from tests.e2e.client import PATIENCE
from tests.e2e.pool import Pool


def pin(pool: Pool, *names: str, session: str | None = None, moves: bool = False) -> list[dict[str, Any]]:
    """Pin all, or a session; without names the pin ends. Returns all pins."""
    accounts = [pool.proxy.members[name].id for name in names]
    pins: list[dict[str, Any]] = _post(pool, "pin", {"accounts": accounts, "session": session, "moves": moves})["pins"]
    return pins


def lift(pool: Pool, *names: str) -> None:
    """End the holds of these accounts."""
    _post(pool, "lift", {"accounts": [pool.proxy.members[name].id for name in names]})


def _post(pool: Pool, path: str, body: dict[str, Any]) -> dict[str, Any]:
    connection = http.client.HTTPConnection(pool.proxy.url.removeprefix("http://"), timeout=PATIENCE)
    try:
        connection.request("POST", f"/_flowpool/{path}", json.dumps(body), {"x-flowpool-key": pool.proxy._key()})
        answer = connection.getresponse()
        data = answer.read()
        assert answer.status == http.client.OK, data
        told: dict[str, Any] = json.loads(data)
        return told
    finally:
        connection.close()
