"""Which requests an account of the pool signs."""

import pytest

from providers.anthropic.paths import is_foreign, is_misplaced, is_pooled
from providers.contract import Head


@pytest.mark.parametrize(
    ("method", "path", "pooled", "misplaced"),
    [
        ("POST", "/v1/messages", True, False),
        ("POST", "/v1/messages?beta=true", True, False),
        ("POST", "/v1/messages/count_tokens?beta=true", True, False),
        ("POST", "/v1/messages?next=/v1/messages", True, False),
        ("GET", "/v1/messages", False, False),
        ("POST", "/v1/messages/", False, True),
        ("POST", "/V1/messages", False, True),
        ("POST", "/v1/%6dessages", False, True),
        ("POST", "/v1//messages", False, True),
        ("POST", "/v1/messages/batches", False, False),
        ("POST", "/v1/v1/messages", False, True),
        ("POST", "//v1/messages?beta=true", False, True),
        ("POST", "/v1/../v1/messages", False, True),
        ("POST", "/v1/%252e%252e/v1/messages", False, True),
        ("POST", "/v1/messages/batches/..", False, True),
        ("POST", "/v1/messages/.", False, True),
        ("POST", "\\v1\\messages", False, True),
        ("POST", "/v1/messages;x=1?beta=true", False, True),
        ("POST", "/..;/v1/messages", False, True),
        ("POST", "/v1/messages%3fbeta=true", False, True),
        ("POST", "/v1/messages#x", False, True),
        ("POST", "/v1/messages;x/batches", False, False),
        ("POST", "*", False, False),
        ("POST", "", False, False),
        ("POST", "/prefix/v1/messages/count_tokens", False, True),
        ("GET", "/x?y=/v1/messages", False, False),
        ("GET", "/api/oauth/usage", False, False),
        ("POST", "/xv1/messages", False, False),
    ],
)
def test_paths(method: str, path: str, pooled: bool, misplaced: bool) -> None:
    """Two exact paths are pooled, query apart; a path that merely ends in one comes of a wrong base URL."""
    head = Head(method=method, path=path, headers={})
    assert (is_pooled(head), is_misplaced(head)) == (pooled, misplaced)


@pytest.mark.parametrize(
    ("path", "foreign"),
    [
        ("/backend-api/codex/responses", True),
        ("/backend-api/wham/usage?x=1", True),
        ("/backend-api", True),
        ("/Backend-API/codex", True),
        ("//backend%2dapi/x", True),
        ("/x/../backend-api/codex", True),
        ("/backend-apis/x", False),
        ("/v1/backend-api/x", False),
        ("/v1/messages", False),
        ("/api/oauth/usage?next=/backend-api/", False),
        ("/v1/responses", False),
        ("", False),
    ],
)
def test_paths_of_another_vendor(path: str, foreign: bool) -> None:
    """What ChatGPT's programs ask is known by its beginning."""
    assert is_foreign(Head(method="GET", path=path, headers={})) is foreign
