"""mitmweb shows every attempt as a flow with its story, and no credential at any moment."""

from __future__ import annotations

import http.client
import json
from typing import Any

from tests.e2e.conftest import Make
from tests.e2e.pool import BLOCK, Pool
from tests.upstream import drop, limit, ok, overloaded

PASSWORD = "only-for-this-test"
ARGS = ("--set", f"web_password={PASSWORD}")


def _shown(pool: Pool, path: str = "/flows") -> str:
    """What the window's own page is told."""
    connection = http.client.HTTPConnection("127.0.0.1", pool.proxy.web_port, timeout=10)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {PASSWORD}"})
        answer = connection.getresponse()
        assert answer.status == http.client.OK, answer.status
        return answer.read().decode("latin-1")
    finally:
        connection.close()


def _flows(pool: Pool) -> list[dict[str, Any]]:
    flows: list[dict[str, Any]] = json.loads(_shown(pool))
    return flows


def _comments(pool: Pool) -> list[str]:
    return sorted(flow["comment"] for flow in _flows(pool))


def test_each_attempt_is_a_flow_with_its_story(make: Make) -> None:
    """A turn that was refused twice is three flows: two marked and told, and the one that was served."""
    pool = make("work", "home", "third", program="mitmweb", args=ARGS)
    pool.upstream.script("work", limit("7d", resets_in=3600))
    pool.upstream.script("home", overloaded(), limit("5h", resets_in=1800))

    assert pool.ask(pool.turn()).status == 200
    flows = _flows(pool)
    assert [(flow["response"]["status_code"], bool(flow["marked"])) for flow in flows] == [
        (200, False),
        (429, True),
        (529, True),
        (429, True),
    ]
    first, *_ = (flow["comment"] for flow in flows)
    assert first.startswith("third: hop: home refused: 5h limit until")
    told = _comments(pool)
    assert [comment.partition(" limit until")[0] for comment in told] == [
        "refused on home: 5h",
        "refused on home: overloaded (529); waits until " + told[1][-12:],
        "refused on work: 7d",
        "third: hop: home refused: 5h",
    ]
    assert told[0].endswith("; went to third")
    assert told[2].endswith("; went to home")


def test_no_credential_is_shown_while_requests_run(make: Make) -> None:
    """Before the headers, in the gate, in mid-stream, after a refusal, after a reset: the window never shows a secret."""
    pool = make("work", "home", program="mitmweb", args=ARGS)
    secrets = [pool.token, *(member.secret for member in pool.proxy.members.values())]
    seen: list[str] = []
    pool.upstream.script("work", ok().late("head").wait("gate", after="ping").wait("body", after="content_block_start"))
    with pool.client() as client:
        client.send(pool.turn())
        for gate in ("head", "gate"):
            pool.upstream.wait_held(gate)
            seen.append(_shown(pool))
            pool.upstream.release(gate)
        reply = client.begin().until(BLOCK)
        seen.append(_shown(pool))
        pool.upstream.release("body")
        assert reply.rest().status == 200
    pool.upstream.script("work", drop("reset"), limit("7d"))
    assert [pool.ask(pool.turn()).status for _ in range(2)] == [502, 200]
    flows = _flows(pool)
    seen += [json.dumps(flows), _shown(pool, "/flows/dump")]
    assert len(flows) == 4
    assert not [secret for secret in secrets if secret in "".join(seen)]
