"""A login of Claude Code's is found whole, or refused in one line that quotes nothing of it."""

import json

import pytest

from credentials.secret import Secret
from flowpool.errors import Failure
from flowpool.vendor.logins import understood
from home.clientlogin import ClientLogin
from routing.words import Identity

LOGIN = {"accessToken": "sk-ant-oat01-PLANTED", "refreshToken": "sk-ant-ort01-PLANTED", "subscriptionType": "pro"}


def test_a_whole_login_tells_whose_it_is() -> None:
    """As far as it can be kept: what is no plain text is not known."""
    owner = {"accountUuid": "u-1", "emailAddress": "me@example.org\n", "organizationName": "x" * 600}
    found = understood(ClientLogin(text=Secret(json.dumps({"claudeAiOauth": LOGIN})), owner=owner), "there", "again")

    assert found.identity == Identity(owner="u-1", plan="pro")
    assert found.credential.access.reveal() == LOGIN["accessToken"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("sk-ant-oat01-PLANTED", "this is not Claude Code's login file"),
        (json.dumps(LOGIN | {"refreshToken": ""}), "it has no refreshToken, so it ends within hours"),
        (json.dumps(LOGIN | {"refreshToken": "PLANTED x"}), "refreshToken must be one line of printable ASCII"),
        ('{"claudeAiOauth": "PLANTED"}', "claudeAiOauth is not an object"),
    ],
    ids=range(4),
)
def test_what_is_not_whole_is_refused(text: str, says: str) -> None:
    """With where it came from and what to run."""
    with pytest.raises(Failure) as caught:
        understood(ClientLogin(text=Secret(text)), "there", "flowpool login")

    assert str(caught.value).startswith(f"there: {says}")
    assert str(caught.value).endswith("; run: flowpool login")
    assert "PLANTED" not in str(caught.value)
