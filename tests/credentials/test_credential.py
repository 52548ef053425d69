"""What a person pastes becomes a credential or a clear refusal."""

import json
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credentials.credential import KINDS, Credential, is_usual, parse, shares_secret
from credentials.errors import BadSecret
from credentials.secret import Secret
from routing.words import Kind

TOKEN, KEY, REFRESH = "sk-ant-oat01-PLANTED", "sk-ant-api03-PLANTED", "sk-ant-ort01-PLANTED"
SHORT = "sk-ant-at01-PLANTED"
LOGIN = {
    "accessToken": TOKEN,
    "refreshToken": REFRESH,
    "expiresAt": 1767614400123,
    "scopes": ["user:inference", "user:profile"],
    "subscriptionType": "max",
    "rateLimitTier": "default_claude_max_20x",
    "other": "kept by nobody",
}
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*LOGIN, "claudeAiOauth"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def test_the_kinds_are_those_of_routing() -> None:
    """The package may not import routing, but means the same kinds."""
    assert tuple(kind.value for kind in Kind) == KINDS


@given(kind=st.sampled_from(KINDS), text=st.text() | st.text(st.sampled_from(' {}"sk-antoprt01\n'), max_size=30))
def test_any_text_is_read_or_refused(kind: str, text: str) -> None:
    """Whatever is pasted, the outcome is a credential or BadSecret."""
    with suppress(BadSecret):
        parse(kind, text)


@given(found=ANY_JSON)
def test_any_json_is_read_or_refused(found: object) -> None:
    """Whatever JSON a login file holds, the outcome is a credential or BadSecret."""
    with suppress(BadSecret):
        parse("oauth", json.dumps(found))


@pytest.mark.parametrize(
    "wrap", [lambda login: login, lambda login: {"claudeAiOauth": login, "mcpOAuth": {}}], ids=["flat", "nested"]
)
def test_a_login_file_is_read_nested_and_flat(wrap: object) -> None:
    """Both shapes of .credentials.json give the same credential."""
    assert callable(wrap)
    expected = Credential(
        kind="oauth",
        access=Secret(TOKEN),
        refresh=Secret(REFRESH),
        expires_at=datetime(2026, 1, 5, 12, 0, 0, 123000, UTC),
        extras={
            "scopes": ("user:inference", "user:profile"),
            "subscriptionType": "max",
            "rateLimitTier": "default_claude_max_20x",
        },
    )

    assert expected == parse("oauth", f"\ufeff {json.dumps(wrap(LOGIN), indent=1)}\n")


@pytest.mark.parametrize(
    ("kind", "text"), [("setup-token", TOKEN), ("oauth", TOKEN), ("api-key", KEY), ("api-key", "other-vendor")]
)
def test_a_bare_token_is_stripped(kind: str, text: str) -> None:
    """Space around a token is not part of it."""
    assert parse(kind, f"  {text}\r\n") == Credential(kind=kind, access=Secret(text))


@pytest.mark.parametrize("quote", "\"'`")
@pytest.mark.parametrize(("kind", "text"), [("setup-token", TOKEN), ("api-key", KEY), ("oauth", json.dumps(LOGIN))])
def test_one_pair_of_quotes_is_dropped(kind: str, text: str, quote: str) -> None:
    """What was copied with the quotes around it is the same secret."""
    assert parse(kind, f" {quote} {text}{quote}\n") == parse(kind, text)


SAME = [  # one, other, whether they share a secret
    (parse("setup-token", TOKEN), parse("setup-token", TOKEN), True),
    (parse("setup-token", TOKEN), parse("oauth", TOKEN), True),
    (parse("setup-token", TOKEN), parse("setup-token", f"{TOKEN}-2"), False),
    (parse("oauth", json.dumps(LOGIN)), parse("setup-token", TOKEN), True),
    (parse("oauth", json.dumps(LOGIN)), parse("oauth", json.dumps(LOGIN | {"accessToken": f"{TOKEN}-2"})), True),
    (parse("oauth", f"{TOKEN}-3"), parse("oauth", json.dumps(LOGIN)), False),
]


@pytest.mark.parametrize(("one", "other", "do_share"), SAME, ids=range(len(SAME)))
def test_the_same_secret_is_recognised_whatever_it_is_called(
    one: Credential, other: Credential, do_share: bool
) -> None:
    """The same token, or the same refresh token beside a newer access token; either way round."""
    assert shares_secret(one, other) is do_share
    assert shares_secret(other, one) is do_share


@pytest.mark.parametrize(
    ("kind", "text", "usual"),
    [
        ("setup-token", TOKEN, True),
        ("oauth", json.dumps(LOGIN), True),
        ("api-key", "other-vendor", True),
        ("setup-token", "hello-world", False),
        ("oauth", "hello-world", False),
    ],
)
def test_a_login_token_that_begins_otherwise_is_noticed(kind: str, text: str, usual: bool) -> None:
    """It may still be right, so it is read all the same."""
    assert is_usual(parse(kind, text)) is usual


@pytest.mark.parametrize("expires", [None, 0])
def test_an_unknown_end_is_none(expires: object) -> None:
    """A missing or zero expiresAt means that the end is not known."""
    assert parse("oauth", json.dumps({"accessToken": TOKEN, "expiresAt": expires})).expires_at is None


CASES = [  # kind, text, what the message says
    ("api-key", TOKEN, "--kind setup-token$"),
    ("setup-token", KEY, "--kind api-key$"),
    ("oauth", KEY, "--kind api-key$"),
    ("oauth", json.dumps({"accessToken": KEY}), "--kind api-key$"),
    *(
        (
            kind,
            REFRESH,
            "this is a refresh token alone; pipe in the whole login file; run: flowpool add NAME --kind oauth <",
        )
        for kind in KINDS
    ),
    *(
        (kind, SHORT, "short-lived .+ with `claude setup-token`; run: flowpool add NAME --kind setup-token$")
        for kind in KINDS
    ),
    ("oauth", json.dumps({"accessToken": SHORT}), "short-lived"),
    ("setup-token", json.dumps(LOGIN), "--kind oauth$"),
    ("setup-token", "", "is empty"),
    ("setup-token", " \n", "is empty"),
    ("setup-token", f"{TOKEN[:15]}\n{TOKEN[15:]}", "one line"),
    ("setup-token", f"{TOKEN} {TOKEN}", "one line of printable ASCII without spaces or quotes"),
    ("setup-token", f'"{TOKEN}', "without spaces or quotes"),
    ("setup-token", f"'{TOKEN}\"", "without spaces or quotes"),
    ("setup-token", f"''{TOKEN}''", "without spaces or quotes"),
    ("setup-token", f"Bearer {TOKEN}", "without spaces or quotes"),
    ("setup-token", f"“{TOKEN}”", "printable ASCII"),
    ("setup-token", '""', "is empty"),
    ("setup-token", f"{TOKEN}é", "printable ASCII"),
    ("setup-token", f"{TOKEN}\x00", "printable ASCII"),
    ("api-key", "PLANTED", "7 characters"),
    ("api-key", "PLANTED" * 2000, "14000 characters"),
    ("oauth", "{PLANTED", "not valid JSON"),
    ("oauth", '{"a":' * 100_000, "not valid JSON"),
    ("oauth", "{}", "no accessToken"),
    ("oauth", '{"claudeAiOauth": "PLANTED"}', "not an object"),
    ("oauth", json.dumps({"accessToken": TOKEN, "refreshToken": 1}), "refreshToken is not text"),
    ("oauth", json.dumps({"accessToken": TOKEN, "refreshToken": "PLANTED x"}), "refreshToken must be one line"),
    *(
        ("oauth", json.dumps({"accessToken": TOKEN, "expiresAt": expires}), "expiresAt")
        for expires in (True, "PLANTED", -1, 1767614400, 1e300, float("nan"), float("inf"))
    ),
    ("PLANTED", "x", "setup-token|oauth|api-key"),
]


@pytest.mark.parametrize(
    ("kind", "text", "says"), CASES, ids=[f"{number} {says}" for number, (_, _, says) in enumerate(CASES)]
)
def test_a_refusal_is_clear_and_quotes_nothing(kind: str, text: str, says: str) -> None:
    """What cannot be used is refused with the reason and the mending command, never with the text."""
    with pytest.raises(BadSecret, match=says) as caught:
        parse(kind, text)

    assert "; run: flowpool add NAME --kind" in str(caught.value)
    with pytest.raises(BadSecret) as named:
        parse(kind, text, "flowpool add work --replace")
    assert str(named.value) == str(caught.value).replace("flowpool add NAME", "flowpool add work --replace")
    assert "PLANTED" not in str(caught.value)
    assert caught.value.__cause__ is None
