"""Signing: whose credential leaves, in which header, and that nothing else changes."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mitmproxy import http

from addons.exchange import CLIENT, Path
from addons.sign import MASK, SECRET_HEADERS, forget_cookies, mask
from providers.anthropic.placeholder import PLACEHOLDER
from routing.words import AccountId, Kind
from tests.addons.made import accounts, exchange, request, signer, token

type Fields = list[tuple[bytes, bytes]]

BETA = b"oauth-2025-04-20"
CHANGED = {b"host", b"accept-encoding", b"anthropic-beta"}
PLANTED = b"client-secret-"


def cased(names: list[str]) -> st.SearchStrategy[bytes]:
    """One of the names, in whatever case."""
    casing: list[Callable[[str], str]] = [str.lower, str.upper, str.title, str.swapcase]
    return st.tuples(st.sampled_from(names), st.sampled_from(casing)).map(lambda pair: pair[1](pair[0]).encode())


text = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20).map(str.encode)
plain = st.tuples(cased(["host", "accept-encoding", "x-app", "user-agent", "x-api-keys", "cookies", "a"]), text)
betas = st.lists(st.sampled_from(["oauth-2025-04-20", "tools-1", "", " thinking-2"]), max_size=4)
beta = st.tuples(cased(["anthropic-beta"]), betas.map(lambda members: ",".join(members).encode()))
secret = st.tuples(cased([name.decode() for name in SECRET_HEADERS]), text.map(lambda value: PLANTED + value))
heads = st.lists(st.one_of(plain, beta, secret), max_size=12)
kinds = st.sampled_from(Kind)


def is_secret(name: bytes) -> bool:
    """Whether a field of this name carries a credential."""
    return name.lower() in SECRET_HEADERS


def signed(fields: Fields, kind: Kind = Kind.OAUTH, **of_exchange: Any) -> Fields:
    """What the upstream gets of a request with these fields that the account "work" pays for."""
    made = request(headers=fields)
    own = mask(made)
    pool = accounts("work", kind=kind)
    chosen = {"account": AccountId("work"), **of_exchange}
    return list(signer(pool).signed(made, exchange(own=own, **chosen)).headers.fields)


@given(heads, kinds)
def test_no_client_secret_leaves_with_a_pooled_request(fields: Fields, kind: Kind) -> None:
    """Of however many credentials the client sent, none and no mask of one is in the head that goes out."""
    sent = signed(fields, kind)

    assert not [value for _, value in sent if PLANTED in value or MASK in value]


@given(heads, kinds)
def test_the_accounts_credential_is_there_once(fields: Fields, kind: Kind) -> None:
    """The account's credential is the only secret of the head, in the header that its kind rides in."""
    name, value = {Kind.API_KEY: (b"x-api-key", "")}.get(kind, (b"authorization", "Bearer "))

    assert [f for f in signed(fields, kind) if is_secret(f[0])] == [(name, f"{value}{token('work')}".encode())]


@given(heads, kinds)
def test_every_other_field_stays(fields: Fields, kind: Kind) -> None:
    """All but host, accept-encoding and the beta list keep their bytes, order and case."""

    def kept(some: Fields) -> Fields:
        return [f for f in some if f[0].lower() not in CHANGED and not is_secret(f[0])]

    assert kept(signed(fields, kind)) == kept(fields)


@given(heads, kinds)
def test_the_credential_stands_where_the_clients_first_one_stood(fields: Fields, kind: Kind) -> None:
    """What came before the client's first secret still comes before the account's."""
    sent = signed(fields, kind)
    place = next((at for at, (name, _) in enumerate(fields) if is_secret(name)), len(fields))
    before = [name for name, _ in fields[:place] if name.lower() != b"anthropic-beta"]
    at = next(at for at, (name, _) in enumerate(sent) if is_secret(name))

    assert [name for name, _ in sent[:at] if name.lower() != b"anthropic-beta"] == before


@given(heads)
def test_every_host_is_the_upstreams(fields: Fields) -> None:
    """Each host field names the upstream, and none is added."""
    hosts = [value for name, value in signed(fields) if name.lower() == b"host"]

    assert hosts == [b"api.anthropic.com"] * sum(name.lower() == b"host" for name, _ in fields)


@given(heads)
def test_an_uncompressed_answer_is_asked_for(fields: Fields) -> None:
    """Each accept-encoding becomes identity in its place; where there is none, one is appended."""
    asked = [name for name, _ in fields if name.lower() == b"accept-encoding"]
    sent = [field for field in signed(fields) if field[0].lower() == b"accept-encoding"]

    assert sent == [(name, b"identity") for name in asked or [b"accept-encoding"]]


def members(fields: Fields) -> list[bytes]:
    """The members of the beta list, over all its fields."""
    lists = [value for name, value in fields if name.lower() == b"anthropic-beta"]
    return [member.strip() for value in lists for member in value.split(b",") if member.strip()]


@given(heads, kinds)
def test_the_beta_list_gains_or_loses_one_member(fields: Fields, kind: Kind) -> None:
    """A login's list has the OAuth beta, a key's has not; the other members stay, in order."""
    before, after = members(fields), members(signed(fields, kind))

    assert [member for member in after if member != BETA] == [member for member in before if member != BETA]
    assert (BETA in after) == kind.is_subscription


@given(heads, kinds)
def test_a_beta_list_that_is_right_keeps_its_bytes(fields: Fields, kind: Kind) -> None:
    """A list that needs no change is sent as the client wrote it, however many fields it has."""
    right = [f for f in fields if f[0].lower() != b"anthropic-beta" or (BETA in f[1]) == kind.is_subscription]
    lists = [field for field in right if field[0].lower() == b"anthropic-beta"]
    sent = [field for field in signed(right, kind) if field[0].lower() == b"anthropic-beta"]

    assert sent == (lists or ([(b"anthropic-beta", BETA)] if kind.is_subscription else []))


passing = st.sampled_from([{"path": Path.PASSED}, {"path": Path.PASSED, "account": CLIENT}, {"account": CLIENT}])


@given(heads, passing)
def test_what_passes_through_has_the_clients_own_values(fields: Fields, of_exchange: dict[str, Any]) -> None:
    """A request on the client's own credential leaves byte for byte as it came but for the host."""
    wanted = [(name, b"api.anthropic.com" if name.lower() == b"host" else value) for name, value in fields]

    assert signed(fields, **of_exchange) == wanted


@given(heads)
def test_nothing_secret_leaves_without_an_exchange(fields: Fields) -> None:
    """A request that admission never saw goes out without any credential, masked or not."""
    made = request(headers=fields)

    sent = signer(accounts("work")).signed(made, None).headers.fields
    assert [name for name, _ in sent] == [name for name, _ in fields if not is_secret(name)]
    assert not [value for _, value in sent if PLANTED in value]


@given(heads, kinds)
def test_signing_leaves_the_flow_alone(fields: Fields, kind: Kind) -> None:
    """The request that was signed keeps its fields and its body; the copy has no body."""
    made = request(headers=fields, content=b"said")
    own = mask(made)
    before = made.get_state()

    head = signer(accounts("work", kind=kind)).signed(made, exchange(account=AccountId("work"), own=own))
    head.headers["x-later"] = "1"
    head.path = "/elsewhere"
    assert made.get_state() == before
    assert head.raw_content is None


@given(heads)
def test_masking_hides_each_secret_in_its_place(fields: Fields) -> None:
    """Every secret value is taken out, in order, and nothing else is touched."""
    made = request(headers=fields)

    assert mask(made) == tuple((name, value) for name, value in fields if is_secret(name))
    assert list(made.headers.fields) == [(name, MASK if is_secret(name) else value) for name, value in fields]


shown = st.sampled_from(["{}", "Bearer {}", "bearer  {} ", "a={}; b=1", "x{}y"])
placed = st.builds(lambda around: around.format(PLACEHOLDER).encode(), shown)
wearing = st.tuples(st.one_of(cased([name.decode() for name in SECRET_HEADERS]), cased(["x-app", "cookies"])), placed)
ways = st.sampled_from(
    [
        {},
        {"account": CLIENT},
        {"path": Path.PASSED, "account": CLIENT},
        {"path": Path.PASSED, "account": CLIENT, "lacks_login": True},
        {"path": Path.PASSED, "account": AccountId("work"), "lacks_login": True},
        {"path": Path.PASSED, "lacks_login": True},
    ]
)


@given(st.lists(st.one_of(plain, secret, wearing), max_size=8), kinds, ways)
def test_the_placeholder_never_leaves(fields: Fields, kind: Kind, way: dict[str, Any]) -> None:
    """In whichever header it stands, whoever pays, and also where admission took it for the client's own."""
    assert not [value for _, value in signed(fields, kind, **way) if PLACEHOLDER.encode() in value]


@given(st.lists(st.one_of(plain, wearing), max_size=8))
def test_the_placeholder_never_leaves_without_an_exchange(fields: Fields) -> None:
    """Nor does it where a fault let a request pass that admission never saw."""
    sent = signer(accounts("work")).signed(request(headers=fields), None).headers.fields

    assert not [value for _, value in sent if PLACEHOLDER.encode() in value]


@given(heads, kinds)
def test_what_is_on_the_primary_has_its_credential_alone(fields: Fields, kind: Kind) -> None:
    """Of a client without a login, what is bound to an identity goes out as a pooled path does, its accept-encoding untouched."""
    sent = signed(fields, kind, path=Path.PASSED, lacks_login=True)
    credentials = [value for name, value in sent if is_secret(name)]
    accepted = [field for field in fields if field[0].lower() == b"accept-encoding"]

    assert [value.endswith(token("work").encode()) for value in credentials] == [True]
    assert [field for field in sent if field[0].lower() == b"accept-encoding"] == accepted


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://127.0.0.1:8123/", b"127.0.0.1:8123"),
        ("https://api.anthropic.com:443/", b"api.anthropic.com"),
        ("http://api.anthropic.com:443/", b"api.anthropic.com:443"),
        ("http://[::1]:9/", b"[::1]:9"),
    ],
)
def test_a_port_is_named_where_it_is_not_the_schemes(url: str, host: bytes) -> None:
    """The host field has the port unless it is the default one."""
    made = http.Request.make("POST", url, b"", http.Headers(host="127.0.0.1:3456"))

    assert signer({}).signed(made, exchange(Path.PASSED)).headers["host"].encode() == host


def test_a_pooled_request_without_a_choice_is_never_sent() -> None:
    """Without an account that pays there is nothing to sign with, and no way out."""
    with pytest.raises(AssertionError, match="chosen account"):
        signer(accounts("work")).signed(request(), exchange())


def test_a_signer_knows_whose_secret_it_has() -> None:
    """An account whose secret could not be read is not at hand."""
    chosen = signer(accounts("work", "home"), without=["home"])

    assert [chosen.has(AccountId(name)) for name in ("work", "home", "gone")] == [True, False, False]
    assert chosen.has(CLIENT)  # which brings its own


def test_all_cookies_of_an_answer_are_dropped_and_nothing_else() -> None:
    """However their names are written, and however many there are."""
    fields = ((b"a", b"1"), (b"Set-Cookie", b"x=1"), (b"cookie", b"2"), (b"SET-COOKIE", b"y=2"), (b"A", b"3"))
    answer = http.Response.make(200)
    answer.headers = http.Headers(fields)
    forget_cookies(answer)
    assert list(answer.headers.fields) == [(b"a", b"1"), (b"cookie", b"2"), (b"A", b"3")]
