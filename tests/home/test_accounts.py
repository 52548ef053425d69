"""accounts.toml is read strictly and changed by one process at a time."""

import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credentials import files
from home import accounts
from home.errors import AccountsError
from home.schema import PROVIDERS
from routing.words import Account, AccountId, Identity, Kind, Reserves

ROOT = Path(__file__).parents[2]
PATH = Path("accounts.toml")
WORK = Account(id=AccountId("a1"), name="work", provider="anthropic", kind=Kind.SETUP_TOKEN)
HOME = Account(id=AccountId("b2"), name="home", provider="anthropic", kind=Kind.API_KEY, enabled=False, rank=-3)
LETTERS = "abcxyz0189"
NAMES = st.builds(str.__add__, st.sampled_from(LETTERS), st.text(f"{LETTERS}._-", max_size=31))
FACTS = st.text(st.characters(categories=("L", "N", "P")), max_size=9)
LISTS = st.lists(
    st.builds(
        Account,
        id=st.text("abyzAZ09_-", min_size=1, max_size=64).map(AccountId),
        name=NAMES,
        provider=st.sampled_from(PROVIDERS),
        kind=st.sampled_from(Kind),
        enabled=st.booleans(),
        rank=st.none() | st.integers(-accounts.FURTHEST, accounts.FURTHEST),
        reserves=st.builds(Reserves, session=st.floats(0, 0.99), week=st.floats(0, 0.99)),
        cap=st.none() | st.integers(1, accounts.HIGHEST_CAP),
        identity=st.builds(Identity, **dict.fromkeys(("owner", "organization", "email", "plan"), FACTS)),
        source=FACTS,
    ),
    max_size=5,
    unique_by=(lambda account: account.id, lambda account: account.name),
)
ACCOUNTS = st.builds(  # at most one is the primary
    lambda known, at: tuple(replace(one, primary=index == at) for index, one in enumerate(known)),
    LISTS,
    st.integers(-1, 4),
)


@given(known=ACCOUNTS)
def test_what_is_written_is_read(known: accounts.Accounts) -> None:
    """Accounts survive the way to the file and back, in their order."""
    assert known == accounts.parse(PATH, accounts.render(known))


def test_no_file_and_one_without_accounts_mean_no_accounts(tmp_path: Path) -> None:
    """Neither is a fault; a file without a byte is what a crash left, and not the wish for an empty pool."""
    assert accounts.load(tmp_path / "accounts.toml") == ()
    with pytest.raises(AccountsError, match="is empty; put a copy back, or delete it to begin with no accounts"):
        accounts.parse(PATH, b"")
    assert accounts.parse(PATH, b"version = 1\n") == ()
    assert accounts.parse(PATH, b"version = 1\naccounts = []\n") == ()


def text(**change: str) -> str:
    """Return a file of one account; change replaces a line's value, an empty one drops the line."""
    lines = {"id": '"a1"', "name": '"work"', "provider": '"anthropic"', "kind": '"oauth"', "enabled": "true"} | change
    return "version = 1\n[[accounts]]\n" + "".join(f"{key} = {value}\n" for key, value in lines.items() if value)


CASES = [  # text, what the message says
    ("version = 2\nx = 1\n", ":1: version: is 2, written by a newer"),
    ("accounts = [1]\n", "accounts.toml: lacks the line version = 1 at its top"),
    ("# nothing\n", "accounts.toml: is empty; put a copy back, or delete it"),
    (text(rank="1_000_001"), ":8: accounts.rank: must be a whole number from -1000000 to 1000000"),
    ("version = true\n", ":1: version: must be 1"),
    ("version = 1\nother = 1\n", ":2: other: is not known here; did you mean version, accounts?"),
    ("version = 1\n[[account]]\n", "account: is not known here; did you mean accounts?"),
    ("version = 1\naccounts = 1\n", ":2: accounts: must be tables"),
    ("version = 1\naccounts = [1]\n", "accounts: must be a table"),
    ("version = 1\n[[accounts\n", ":2: not valid TOML"),
    (text(id='"a b"'), ":3: accounts.id: must be 1 to 64"),
    (text(id=""), ":2: accounts.id: must be 1 to 64"),
    (text(name='"Work"'), ":4: accounts.name: must be 1 to 32"),
    (text(name='"client"'), ":4: accounts.name: must be 1 to 32"),
    (text(name='"' + "a" * 33 + '"'), ":4: accounts.name: must be 1 to 32"),
    (text(provider="1"), ":5: accounts.provider: must be anthropic"),
    (text(kind='"oath"'), ":6: accounts.kind: must be setup-token or oauth or api-key; did you mean oauth?"),
    (text(kind="[]"), ":6: accounts.kind: must be setup-token or oauth or api-key"),
    (text(enabled="1"), ":7: accounts.enabled: must be true or false"),
    (text(email="7"), ":8: accounts.email: must be 1 to 512 characters on one line"),
    (text(source='""'), ":8: accounts.source: must be 1 to 512 characters on one line"),
    (text(plan=r'"a\nb"'), ":8: accounts.plan: must be 1 to 512 characters on one line"),
    (text(rank="true"), ":8: accounts.rank: must be a whole number"),
    (text(rank="1.5"), ":8: accounts.rank: must be a whole number"),
    (text(reserve_5h="1"), ":8: accounts.reserve_5h: must be a number from 0"),
    (text(reserve_week="-0.1"), ":8: accounts.reserve_week: must be a number from 0"),
    (text(reserve_week="true"), ":8: accounts.reserve_week: must be a number from 0"),
    (text(primary="1"), ":8: accounts.primary: must be true or false"),
    (text(enabled="1"), ":7: accounts.enabled: must be true or false"),
    (
        text(primary="true") + text(id='"a2"', name='"home"', primary="true").removeprefix("version = 1\n"),
        ":15: accounts.primary: is true twice; keep it for one account",
    ),
    (text(cap="0"), ":8: accounts.cap: must be a whole number from 1 to 10000"),
    (text(cap="true"), ":8: accounts.cap: must be a whole number from 1"),
    (text(cap="1.5"), ":8: accounts.cap: must be a whole number from 1"),
    (text(ranc="1"), ":8: accounts.ranc: is not known here; did you mean rank?"),
    (text(qqqq="1"), ":8: accounts.qqqq: is not known here; did you mean id, name"),
    (text() + text(id='"b"').removeprefix("version = 1\n"), ":10: accounts.name: work is there twice"),
    (text() + text(name='"b"').removeprefix("version = 1\n"), ":9: accounts.id: a1 is there twice"),
]


@pytest.mark.parametrize(("content", "says"), CASES, ids=range(len(CASES)))
def test_a_wrong_file_is_named_and_left(tmp_path: Path, content: str, says: str) -> None:
    """What is wrong is said with file, line and key; neither reading nor editing touches the file."""
    path = tmp_path / "accounts.toml"
    path.write_text(content)

    with pytest.raises(AccountsError, match=re.escape(says)) as caught:
        accounts.load(path)
    assert str(caught.value).startswith(str(path))
    with pytest.raises(AccountsError):
        accounts.edit(path, lambda known: (*known, WORK))
    assert path.read_text() == content


@given(data=st.binary() | st.text(st.sampled_from('version=1\n[]accounts"id')).map(str.encode))
def test_any_bytes_are_accounts_or_our_error(data: bytes) -> None:
    """Junk never raises anything else."""
    with suppress(AccountsError):
        accounts.parse(PATH, data)


def test_what_cannot_be_read_is_our_error(tmp_path: Path) -> None:
    """A folder in the file's place is an AccountsError."""
    with pytest.raises(AccountsError, match="not a plain file"):
        accounts.load(tmp_path)


def test_an_edit_is_private_and_returns_what_stands(tmp_path: Path) -> None:
    """An edit sees what is there, writes 0600 and returns the new accounts."""
    path = tmp_path / "accounts.toml"
    accounts.edit(path, lambda known: (*known, WORK))

    assert accounts.edit(path, lambda known: (*known, HOME)) == (WORK, HOME)
    assert accounts.load(path) == (WORK, HOME)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_wrong_change_is_refused(tmp_path: Path) -> None:
    """A change that would make the file invalid, or raises, leaves it as it was."""
    path = tmp_path / "accounts.toml"
    accounts.edit(path, lambda _: (WORK,))

    with pytest.raises(AccountsError, match="twice"):
        accounts.edit(path, lambda known: (*known, WORK))
    with pytest.raises(ZeroDivisionError):
        accounts.edit(path, lambda known: known[1 // 0 :])
    assert accounts.load(path) == (WORK,)
    with files.lock(path, patience=0):
        pass


EDITOR = """
import sys
from pathlib import Path
from home import accounts
from routing.words import Account, Kind
print("ready", flush=True)
sys.stdin.readline()
for number in range(30):
    one = Account(id=accounts.new_id(), name=f"{sys.argv[2]}{number}", provider="anthropic", kind=Kind.OAUTH)
    accounts.edit(Path(sys.argv[1]), lambda known: (*known, one))
"""


def test_two_processes_lose_nothing(tmp_path: Path) -> None:
    """Two processes that edit at once both find all they added."""
    path = tmp_path / "accounts.toml"
    editors = [
        subprocess.Popen([sys.executable, "-c", EDITOR, str(path), name], stdin=-1, stdout=-1, cwd=ROOT)
        for name in ("a", "b")
    ]
    for editor in editors:
        assert editor.stdout
        editor.stdout.readline()
    for editor in editors:
        editor.communicate(b"go\n", timeout=60)

    assert {one.name for one in accounts.load(path)} == {f"{name}{number}" for name in "ab" for number in range(30)}


def test_ids_are_random() -> None:
    """New ids are 12 hex digits, and no two are the same."""
    ids = {accounts.new_id() for _ in range(100)}

    assert len(ids) == 100
    assert all(re.fullmatch(r"[0-9a-f]{12}", one) for one in ids)


@pytest.mark.parametrize(
    ("name", "good"),
    [("a", True), ("0.a_-", True), ("", False), ("-a", False), ("client", False), ("a\n", False), ("é", False)],
)
def test_names_are_simple(name: str, good: bool) -> None:
    """A name is short, lower-case, ASCII, and not that of the client."""
    assert accounts.is_name(name) is good
