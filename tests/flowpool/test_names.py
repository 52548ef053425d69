"""Names that are typed are found, or answered with the nearest."""

from pathlib import Path

import pytest
from click import Argument, Context
from hypothesis import given
from hypothesis import strategies as st

from flowpool import names
from flowpool.change import enable
from flowpool.errors import Failure
from home import accounts as book
from routing.words import Account, AccountId, Kind
from tests.flowpool.cli import PLANTED, Shell

KNOWN = tuple(
    Account(id=AccountId(f"id{n}"), name=name, provider="anthropic", kind=Kind.OAUTH)
    for n, name in enumerate(("work", "home", "third"))
)


@given(st.lists(st.sampled_from(("work", "home", "third", "wrk", "x", "")), min_size=1, max_size=5))
def test_all_are_found_or_none(typed: list[str]) -> None:
    """Each account comes once, in the order that was typed; one unknown name and nothing is returned."""
    unknown = [name for name in typed if name not in {account.name for account in KNOWN}]
    if unknown:
        with pytest.raises(Failure) as failed:
            names.find(KNOWN, typed)
        assert str(failed.value).count("there is no account") == len(set(unknown))
    else:
        assert [account.name for account in names.find(KNOWN, typed)] == list(dict.fromkeys(typed))


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("wrok", "there is no account wrok; did you mean work?"),
        ("Home", "there is no account Home; did you mean home?"),
        ("zzz", "there is no account zzz; there are: work, home, third"),
        (PLANTED, "there is no account (hidden); there are: work, home, third"),
        ("x" * 33, "there is no account (hidden); there are: work, home, third"),
        ("\x1b[2J", "there is no account (hidden); there are: work, home, third"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(typed: str, says: str) -> None:
    """What may be a secret, or could steer the terminal, is not repeated."""
    with pytest.raises(Failure) as failed:
        names.find(KNOWN, [typed])

    assert str(failed.value) == says


def test_without_accounts_the_way_to_the_first_is_said() -> None:
    """A newcomer is told what to do."""
    with pytest.raises(Failure, match="there are none yet; add one with: flowpool login NAME"):
        names.find((), ["work"])


def test_a_shell_can_complete_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that begin as typed are offered; a broken file offers none and says nothing."""
    monkeypatch.setenv("FLOWPOOL_HOME", str(tmp_path))
    context, parameter = Context(enable), Argument(["typed"])
    book.edit(tmp_path / "accounts.toml", lambda _: KNOWN)
    assert [item.value for item in names.complete(context, parameter, "")] == ["work", "home", "third"]
    assert [item.value for item in names.complete(context, parameter, "h")] == ["home"]
    (tmp_path / "accounts.toml").write_text("x")
    assert names.complete(context, parameter, "") == []


def test_completion_works_in_a_shell(shell: Shell) -> None:
    """The command itself answers bash's question."""
    shell.add("work")
    shell.environ |= {"_FLOWPOOL_COMPLETE": "bash_complete", "COMP_WORDS": "flowpool disable w", "COMP_CWORD": "2"}

    assert shell.run().stdout == "plain,work\n"
