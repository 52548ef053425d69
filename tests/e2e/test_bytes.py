"""What changes between client and upstream is what design.md 2.3 lists, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from providers.anthropic.placeholder import PLACEHOLDER
from tests.e2e.client import Request, count_tokens, startup_check
from tests.e2e.conftest import Make
from tests.e2e.harness import Member
from tests.e2e.pool import Pool, ranked, token
from tests.upstream import (
    Received,
    bad_request,
    bad_token,
    bare,
    claim_only,
    forbidden,
    login,
    ok,
    ok_json,
    overloaded,
    payment_required,
    plant,
    server_error,
    throttle,
)
from tests.upstream.answer import Answer, Headers
from tests.upstream.asks import BETAS

SETUP = Member(name="setup", secret=plant("setup"), rank=1)
OAUTH = Member(name="oauth", secret=login(plant("oauth", "oauth")), kind="oauth", rank=1)
KEY = Member(name="key", secret=plant("key", "api-key"), kind="api-key", rank=1)


def _sent(request: Request, url: str) -> Headers:
    """The header fields as the client wrote them."""
    lines = request.head(url.removeprefix("http://")).decode("latin-1").split("\r\n")[1:-2]
    return tuple((name, value.strip()) for name, _, value in (line.partition(":") for line in lines))


def _expected(sent: Headers, changes: dict[str, tuple[str, str]]) -> Headers:
    return tuple(changes.get(name.lower(), (name, value)) for name, value in sent)


def _ask(pool: Pool, request: Request) -> Received:
    assert pool.ask(request).status == 200
    return pool.upstream.requests[-1]


@pytest.mark.parametrize("member", [SETUP, OAUTH, KEY], ids=lambda member: member.kind)
def test_a_pooled_head_changes_in_its_credential_and_little_else(make: Make, member: Member) -> None:
    """Order, case and values of all other headers stay; host, accept-encoding, the credential and its beta are ours."""
    pool = make(members=(member,))
    for own in ("oauth", "api-key"):
        _compare(pool, member, own)


def _compare(pool: Pool, member: Member, own: str) -> None:
    client = plant("client", "api-key" if own == "api-key" else "setup-token")
    request = Request(
        path="/v1/messages?beta=true&x=%7E%2f&&y",
        headers=(
            ("X-ODD-case", "  Ünï  ".strip()),
            *pool.turn().headers,
            ("x-flowpool-pin", "home"),
            ("x-twice", "1"),
            ("x-twice", "2"),
        ),
        body=pool.turn().body + b"\n ",
    )
    old = "x-api-key" if own == "api-key" else "authorization"
    written = ("x-api-key", client) if own == "api-key" else ("Authorization", f"Bearer {client}")
    betas = BETAS if own == "oauth" else BETAS.replace("oauth-2025-04-20,", "")
    changed = {"authorization": written, "anthropic-beta": ("anthropic-beta", betas)}
    request = Request(path=request.path, headers=_expected(request.headers, changed), body=request.body)
    received = _ask(pool, request)
    assert (received.path, received.body) == (request.path, request.body)
    oauth = member.kind != "api-key"
    ride = ("authorization", f"Bearer {token(member)}") if oauth else ("x-api-key", token(member))
    assert old in {name.lower() for name, _ in request.headers}
    expected = [pair for pair in _sent(request, pool.proxy.url) if not pair[0].lower().startswith("x-flowpool")]
    got = list(received.headers)
    assert [name.lower() if name.lower() in {"authorization", "x-api-key"} else name for name, _ in got] == [
        ride[0] if name.lower() == old else name for name, _ in expected
    ]
    ours = {"host", "accept-encoding", "anthropic-beta", "authorization", "x-api-key"}
    assert [pair for pair in got if pair[0].lower() not in ours] == [p for p in expected if p[0].lower() not in ours]
    low = {name.lower(): value for name, value in got}
    assert (low["host"], low["accept-encoding"]) == (f"127.0.0.1:{pool.upstream.port}", "identity")
    assert low[ride[0]] == ride[1]
    assert sorted(low["anthropic-beta"].split(",")) == sorted(
        BETAS.split(",") if oauth else BETAS.replace("oauth-2025-04-20,", "").split(",")
    )
    if oauth == (own == "oauth"):
        assert low["anthropic-beta"] == betas


def test_every_secret_header_of_the_client_stays_here_on_pooled_paths(shared: Pool) -> None:
    """Cookies, proxy credentials and a second key go nowhere; the account's credential takes their place."""
    secret = f"{shared.token}x"
    extra = (
        ("x-api-key", secret),
        ("Cookie", f"a={secret}"),
        ("Proxy-Authorization", f"Basic {secret}"),
        ("cookie", secret),
    )
    turn = shared.turn().without("accept-encoding")
    received = _ask(shared, Request(path=turn.path, headers=(*turn.headers, *extra), body=turn.body))
    assert shared.token not in repr(received.headers)
    assert received.header("accept-encoding") == "identity"
    names = [name.lower() for name in received.names()]
    assert not {"x-api-key", "cookie", "proxy-authorization"}.intersection(names)
    assert names.count("authorization") == 1


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_paths_pass_with_the_client_s_own_credential(shared: Pool, method: str) -> None:
    """Header for header but the Host, body byte for byte, query and all; the answer comes as it was sent."""
    headers = (
        ("Authorization", f"Bearer {shared.token}"), ("Cookie", "a=b; c=d"), ("Accept-Encoding", "gzip, br"),
        ("X-FlowPool-Key", "k"), ("x-Odd-CASE", "1"), ("anthropic-beta", "files-api-2025-04-14"),
    )  # fmt: skip
    body = b"\x00\xff{not json" if method != "GET" else b""
    request = Request(method=method, path="/v1/files?a=%20b&c", headers=headers, body=body)
    answer = ok_json("x").having(("set-cookie", "s=1"), ("X-Own", "y"))
    shared.upstream.script("client", answer, path="/v1/files")
    reply = shared.ask(request)
    assert (reply.status, reply.body) == (200, answer.body)
    assert all(pair in reply.headers for pair in answer.headers)
    (received,) = shared.saw(request, "client")
    expected = [pair for pair in _sent(request, shared.proxy.url) if not pair[0].lower().startswith("x-flowpool")]
    host = ("Host", f"127.0.0.1:{shared.upstream.port}")
    assert list(received.headers) == [host if name.lower() == "host" else (name, value) for name, value in expected]
    assert shared.in_flight() == 0


def test_pooled_paths_are_pooled_for_post_alone(shared: Pool) -> None:
    """GET /v1/messages, batches and models are the client's own business."""
    headers = (("Authorization", f"Bearer {shared.token}"), ("anthropic-beta", "oauth-2025-04-20"))
    for method, path in (
        ("GET", "/v1/messages"),
        ("POST", "/v1/messages/batches"),
        ("GET", "/v1/models"),
        ("GET", "/api/oauth/usage"),
    ):
        shared.ask(Request(method=method, path=path, headers=headers))
    assert shared.upstream.requests.accounts() == ["client"] * 4


def test_a_chunked_body_arrives_whole(shared: Pool) -> None:
    """How the body is framed is the connection's business; its bytes are the client's."""
    turn = shared.turn()
    received = _ask(shared, Request(path=turn.path, headers=turn.headers, body=turn.body, chunked=333))
    assert received.body == turn.body


def test_an_answer_passes_to_the_byte(shared: Pool) -> None:
    """Status, header order and case, and body of a good answer reach the client as the upstream wrote them."""
    answer = ok_json("Grüße").having(("X-Own-CASE", "1"), ("x-twice", "a"))
    shared.upstream.script("work", answer)
    reply = shared.ask(shared.turn(stream=False))
    assert (reply.status, reply.body) == (200, answer.body)
    assert reply.headers == (*answer.headers, ("content-length", str(len(answer.body))))


COOKIES = (("Set-Cookie", "__cf_bm=planted-cookie; path=/; Secure; HttpOnly"), ("set-cookie", "_cfuvid=planted-cookie"))


def _cookieless(pool: Pool, request: Request, answer: Answer) -> None:
    """Fail unless the client gets the answer to the byte, but for its cookies, which nothing keeps."""
    reply = pool.ask(request)
    assert (reply.status, reply.body) == (answer.status, answer.body)
    assert [pair for pair in reply.headers if pair in answer.headers] == list(answer.headers)
    assert "planted-cookie" not in repr(reply.headers)
    assert not pool.proxy.leaks("planted-cookie")


@pytest.mark.parametrize("answer", [ok_json("x"), ok("x"), bad_request()], ids=["whole", "a stream", "a refusal"])
def test_an_account_s_cookies_stay_here(make: Make, answer: Answer) -> None:
    """What an account's answer sets would go out with the next account's request, from a client that keeps cookies."""
    pool = make(members=ranked("work"))
    pool.upstream.script("work", answer.having(*COOKIES))
    assert {pair[0] for pair in COOKIES} <= {name for name, _ in answer.having(*COOKIES).headers}
    _cookieless(pool, pool.turn(stream=answer.body.startswith(b"event")), answer)


def test_the_primary_s_cookies_stay_here(make: Make) -> None:
    """So do those that are set for whoever asks as the primary."""
    pool = make(members=[replace(*ranked("home"), primary=True)])
    answer = ok_json("x")
    pool.upstream.script("home", answer.having(*COOKIES), path="/v1/files")
    _cookieless(pool, Request(path="/v1/files", headers=(("Authorization", f"Bearer {PLACEHOLDER}"),)), answer)


# -- side calls ----------------------------------------------------------------------------------------------------


def test_side_calls_take_the_session_s_latest_account_and_leave_no_trace(make: Make) -> None:
    """count_tokens and the start-up check follow the session, take no lease, set no stick and no hold."""
    pool = make(members=[Member(name=name, secret=plant(name)) for name in ("work", "home")])
    session = "11111111-2222-4333-8444-555555555555"
    for _ in range(2):  # measures both
        pool.ask(pool.turn())
    pool.ask(pool.turn(session=session))
    home = pool.upstream.requests[-1].account
    conversations = pool.proxy.status()["conversations"]
    request = count_tokens(pool.token, session=session)
    reply = pool.ask(request)
    assert reply.json()["input_tokens"] > 0
    last = pool.upstream.requests[-1]
    pool.check(last, request)
    assert last.account == home
    assert pool.ask(startup_check(pool.token)).status == 200
    assert pool.proxy.status()["conversations"] == conversations


def test_side_calls_hop_at_once_and_hold_nobody(shared: Pool) -> None:
    """A refused or overloaded count goes to one other account without a wait, and its refusal is relayed as it came."""
    path = "/v1/messages/count_tokens"
    for answer in (overloaded(), server_error(), throttle(1), throttle(40), bare(7)):
        shared.upstream.reset()
        shared.upstream.script("work", answer, path=path)
        request = count_tokens(shared.token)
        assert shared.ask(request).json()["input_tokens"] > 0
        first, second = shared.saw(request, "work", "home")
        assert second.at - first.at < 0.25
        shared.upstream.reset()
        for name in ("work", "home"):
            shared.upstream.script(name, answer, path=path)
        reply = shared.ask(request)
        assert (reply.status, reply.body) == (answer.status, answer.body)
        shared.saw(request, "work", "home")
    assert shared.holds() == {}


def test_side_calls_that_meet_a_limit_hop_and_set_no_hold(shared: Pool) -> None:
    """A spent window that a count meets moves the count on, and nothing else: the next turn asks the account itself."""
    path = "/v1/messages/count_tokens"
    for answer in (claim_only(), forbidden(), bad_token(), payment_required()):
        shared.upstream.reset()
        shared.upstream.script("work", answer, path=path)
        request = count_tokens(shared.token)
        assert shared.ask(request).status == 200
        shared.saw(request, "work", "home")
    assert shared.holds() == {}
