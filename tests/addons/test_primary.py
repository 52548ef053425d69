"""The primary: whose identity a client without a login of its own has, through the real addons."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from mitmproxy import http

from addons.exchange import CLIENT, EXCHANGES, Path, Pause
from addons.route import Route
from providers.anthropic.placeholder import PLACEHOLDER
from routing.observations import AccountsChanged
from routing.relogin import Renewal
from routing.rules import Waiting
from routing.transport import Failure
from routing.words import Account, Kind
from tests.addons.made import HEADERS, flow, request
from tests.addons.stories import Pool, Turn
from tests.upstream import bad_token, forbidden, limit, ok, ok_json, revoked, server_error

PROFILE = "/api/oauth/profile"


def placed(method: str = "GET", path: str = PROFILE, *, header: str = "authorization", **more: str) -> http.Request:
    """A request whose credential is the placeholder."""
    others = [field for field in HEADERS if field[0] != b"authorization"]
    shown = (header.encode(), f"Bearer {PLACEHOLDER}".encode())
    return request(method, path, headers=[*others, shown, *((k.encode(), v.encode()) for k, v in more.items())])


def pool_of(*names: str, primary: str | None = "home", **kwargs: Any) -> Pool:
    """A pool, one account of which is the primary."""
    pool = Pool(*names, **kwargs)
    for account_id, account in pool.accounts.items():
        pool.accounts[account_id] = replace(account, primary=account.name == primary)
    return pool


def test_what_is_bound_to_an_identity_goes_out_on_the_primary() -> None:
    """Whoever would serve a turn, and whatever comes is relayed as it came."""
    turn = pool_of("work", "home").asks(placed()).sent_on("home", "primary").begins(ok_json("x"))

    assert turn.exchange.course.value == "stream"
    turn.responds()
    line = turn.line
    assert (line["account"], line["ended"], line["answer"]) == ("home", "passed", None)
    assert turn.pool.account("home").requests == 0


def test_a_turn_is_the_pools_as_ever() -> None:
    """A pooled path needs no primary."""
    pool = pool_of("work", "home", primary=None)

    pool.asks(placed("POST", "/v1/messages")).sent_on("work").gets(limit("7d")).sent_on("home").streams(ok("x"))


def test_a_client_with_a_login_is_never_on_the_primary() -> None:
    """Its own identity counts."""
    pool_of("work", "home").asks(request("GET", PROFILE)).sent_on(CLIENT, "own credential")


@pytest.mark.parametrize("header", ["authorization", "x-api-key", "Cookie", "Proxy_Authorization"])
def test_the_placeholder_counts_in_any_header(header: str) -> None:
    """And what else stands there is no login of the client's."""
    turn = pool_of("work", "home").asks(placed(header=header, authorization="Bearer else")).sent_on("home")

    assert (turn.exchange.own, turn.exchange.lacks_login) == ((), True)


UNSERVED = [
    ((), None, PROFILE, {}, "no account yet; run: flowpool login NAME"),
    ((), None, "/v1/messages", {}, "no account yet; run: flowpool login NAME"),
    (("work",), None, PROFILE, {}, "run: flowpool primary NAME"),
    (
        ("work",),
        "work",
        PROFILE,
        {"enabled": False},
        "work, the primary, is disabled; run: flowpool enable work",
    ),
    (("work",), "work", PROFILE, {"without": ["work"]}, "has no secret; run: flowpool login work"),
]


@pytest.mark.parametrize(("names", "primary", "path", "of_pool", "said"), UNSERVED)
def test_without_an_identity_the_answer_says_what_to_run(
    names: Sequence[str], primary: str | None, path: str, of_pool: dict[str, Any], said: str
) -> None:
    """Own answer H: no client takes it for the end of a login, and it is not tried again: of 404 Claude Code knows that there is nothing."""
    made = flow(placed("POST", path))
    pool = pool_of(*names, primary=primary, **of_pool)
    pool.admit.requestheaders(made)
    pool.route.request(made)

    turn = Turn.__new__(Turn)
    turn.flow = made
    status, kind, message = turn.error
    assert (status, kind) == ((503, "api_error") if path == "/v1/messages" else (404, "not_found_error"))
    assert message.endswith(said)
    assert made.response is not None
    assert made.response.headers["x-should-retry"] == "false"


def test_the_placeholder_in_an_address_is_refused() -> None:
    """Own answer E: nothing of it goes anywhere."""
    made = flow(placed(path=f"/v1/models?key=%73{PLACEHOLDER[1:]}"))
    pool_of("work").admit.requestheaders(made)

    assert made.response is not None
    assert made.response.status_code == 400


def test_a_turn_that_waited_is_not_sent_once_all_accounts_are_gone() -> None:
    """Without a login of the client's there is nothing to send it on."""
    pool = pool_of("work", wait=Waiting(max=100))
    turn = pool.asks(placed("POST", "/v1/messages")).sent_on("work").gets(limit("5h", resets_in=50))
    assert isinstance(turn.exchange.step, Pause)
    pool.accounts.clear()
    client = Account(id=CLIENT, name=CLIENT, provider="anthropic", kind=Kind.OAUTH)
    pool.router.observe(AccountsChanged(accounts=(client,)))

    turn.chooses().relays(503, "H")


# What the primary's login meets


@pytest.mark.parametrize("refusal", [bad_token(), revoked()])
def test_a_refused_login_of_the_primary_is_renewed(refusal: Any) -> None:
    """As of a pooled request (row 17): the same request goes out with the new token."""
    pool = pool_of("work", "home")
    pool.renewals.standing = None
    turn = pool.asks(placed()).sent_on("home").gets(refusal)
    assert isinstance(turn.exchange.step, Pause)
    pool.renewals.is_new = True

    turn.chooses().sent_on("home", "again").begins(ok_json("x"))
    assert turn.rows == [("home", 17)]


@pytest.mark.parametrize("standing", [Renewal.NONE, Renewal.FAILED])
def test_a_login_that_cannot_be_renewed_is_own_answer_b(standing: Renewal) -> None:
    """No 401 is handed on; the account is not held for it, for its turns tell that themselves."""
    pool = pool_of("work", "home")
    pool.renewals.standing = standing
    turn = pool.asks(placed()).sent_on("home").gets(bad_token()).relays(502, "B")

    assert "flowpool login home" in turn.error[2]
    assert (pool.holds("home"), turn.line["account"]) == ([], None)


def test_what_the_primary_may_not_see_is_relayed() -> None:
    """Another 403 is the answer, and comes as it came."""
    turn = pool_of("work", "home").asks(placed()).sent_on("home").gets(forbidden()).relays(403)

    assert turn.line["account"] == "home"


def test_a_server_error_is_relayed() -> None:
    """What is no answer about a login passes as it comes."""
    assert pool_of("home").asks(placed()).sent_on("home").begins(server_error()).exchange.course.value == "stream"


def test_a_get_on_the_primary_is_sent_once_more() -> None:
    """Row 3, as on the client's own credential."""
    turn = pool_of("home").asks(placed()).sent_on("home").fails(Failure.BROKEN).sent_on("home", "again")

    turn.fails(Failure.BROKEN).relays(502)


def test_a_hook_that_raises_lets_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault while the identity is looked for is answered 502, and what would be sent has no credential."""
    pool, made = pool_of("work", "home"), flow(placed())
    pool.admit.requestheaders(made)
    monkeypatch.setattr(Route, "_give_to_primary", lambda *_: 1 / 0)
    pool.route.request(made)

    assert made.response is not None
    assert made.response.status_code == 502
    assert not [value for _, value in made.request.headers.fields if PLACEHOLDER.encode() in value]


def test_whose_path_it_is_does_not_depend_on_it() -> None:
    """Our own paths stay ours."""
    made = flow(placed(path="/_flowpool/health"))
    pool_of("work").admit.requestheaders(made)

    assert (EXCHANGES[made].path, made.response) == (Path.LOCAL, None)
