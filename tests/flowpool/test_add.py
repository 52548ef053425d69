"""Accounts are added with their secret, or not at all."""

import json
import os
import pty
import re
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from credentials.credential import parse
from credentials.file import FileStore
from credentials.secret import Secret
from flowpool import add as command
from flowpool.errors import Failure
from home import accounts as book
from home.checks import Address
from home.state import reader
from home.state.state import State
from routing.holds import Hold
from routing.remembered import Remembered
from routing.words import Account, AccountId, Identity, Kind
from tests.flowpool.cli import PLANTED, ROOT, Shell, planted
from tests.flowpool.proxy import announce, listening, reply

LOGIN = json.dumps(
    {"claudeAiOauth": {"accessToken": PLANTED, "refreshToken": "sk-ant-ort01-x", "expiresAt": 1767614400000}}
)
UNCHECKED = "; not checked: its first request will tell"
WORK = Account(id=AccountId("a1"), name="work", provider="anthropic", kind=Kind.SETUP_TOKEN)


def test_an_added_account_is_listed_with_its_secret_apart(shell: Shell) -> None:
    """Add prints one line and where the secret is kept; the account and the secret are where they belong."""
    answer = shell.run("add", "work", "--kind", "setup-token", "--no-verify", given=f"{PLANTED}\n")

    assert answer.stdout == f"added work (setup-token, anthropic){UNCHECKED}\n"
    where, because = (
        f"flowpool: secrets are kept in the file {shell.home}/secrets.json, which only you can read",
        r" \(.+\)\n",
    )
    assert re.fullmatch(re.escape(where) + because, answer.stderr)
    (account,) = book.load(shell.home / "accounts.toml")
    assert (account.name, account.kind, account.enabled, account.rank) == ("work", Kind.SETUP_TOKEN, True, None)
    kept = FileStore(shell.home / "secrets.json").get(account.id)
    assert (kept.kind, kept.access) == ("setup-token", Secret(PLANTED))
    assert kept.expires_at is not None
    assert timedelta(days=364) < kept.expires_at - datetime.now(UTC) <= timedelta(days=365)
    assert {path.stat().st_mode & 0o77 for path in [shell.home, *shell.home.iterdir()]} == {0}


@pytest.mark.parametrize(
    ("kind", "secret"),
    [
        ("oauth", LOGIN),
        ("oauth", f"\ufeff{LOGIN}"),
        ("oauth", PLANTED),
        ("api-key", "sk-ant-api03-key"),
        ("setup-token", PLANTED),
    ],
    ids=range(5),
)
def test_each_kind_is_taken_from_stdin(shell: Shell, kind: str, secret: str) -> None:
    """Login files, bare tokens and keys are all read from stdin."""
    shell.add("work", kind=kind, secret=secret)
    (account,) = book.load(shell.home / "accounts.toml")

    assert replace(FileStore(shell.home / "secrets.json").get(account.id), expires_at=None) == replace(
        parse(kind, secret), expires_at=None
    )


def test_a_chosen_file_is_not_announced(shell: Shell) -> None:
    """Who asked for the file is not told about it."""
    shell.home.mkdir()
    (shell.home / "config.toml").write_text('credentials.backend = "file"\n')

    assert shell.run("add", "work", "--kind", "setup-token", given=PLANTED).stderr == ""


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (b"", "is empty"),
        (b"\xff\xfe" + PLANTED.encode(), "not text"),
        (b"x" * (2**20 + 1), "longer"),
        (b"sk-ant-api03-x", "--kind api-key"),
    ],
    ids=range(4),
)
def test_a_bad_secret_adds_nothing(shell: Shell, given: bytes, says: str) -> None:
    """A secret that cannot be used is one line with exit 1, and no account is made."""
    err = shell.run("add", "work", "--kind", "setup-token", given=given, code=1).stderr

    assert says in err
    assert err.count("\n") == 1
    assert book.load(shell.home / "accounts.toml") == ()


def test_an_existing_name_needs_replace(shell: Shell) -> None:
    """Without --replace a name that is taken is a failure that changes nothing."""
    shell.add("work")
    before = (shell.home / "secrets.json").read_bytes(), (shell.home / "accounts.toml").read_bytes()
    shell.run("add", "work", "--kind", "setup-token", given="another-token", code=1)

    assert before == ((shell.home / "secrets.json").read_bytes(), (shell.home / "accounts.toml").read_bytes())


def test_replace_keeps_all_but_the_secret(shell: Shell) -> None:
    """--replace keeps id, rank and enabled, takes a new kind if one is given, and a new secret (X19)."""
    shell.add("work")
    shell.add("other")
    path = shell.home / "accounts.toml"
    path.write_text(path.read_text().replace("enabled = true", "enabled = false\nrank = 3", 1))
    before = book.load(path)
    same = shell.run("add", "work", "--replace", given="second-token")
    assert same.stdout == f"replaced the secret of work (setup-token, anthropic){UNCHECKED}\n"
    assert book.load(path) == before
    shell.add("work", "--replace", kind="api-key", secret="sk-ant-api03-third")
    after = book.load(path)

    assert after == (
        Account(id=before[0].id, name="work", provider="anthropic", kind=Kind.API_KEY, enabled=False, rank=3),
        before[1],
    )
    assert FileStore(shell.home / "secrets.json").get(before[0].id) == parse("api-key", "sk-ant-api03-third")


def test_replace_mends_an_account_without_a_secret(shell: Shell) -> None:
    """What the messages advise works: a lost or broken secret is replaced."""
    shell.add("work")
    (account,) = book.load(shell.home / "accounts.toml")
    secrets = shell.home / "secrets.json"
    for broken in ("{}", json.dumps({account.id: {"kind": "x"}})):
        secrets.write_text(f'{{"version": 1, "accounts": {broken}}}')
        shell.add("work", "--replace")
        assert FileStore(secrets).get(account.id).access == Secret(planted("work"))


def test_wrong_files_are_left(shell: Shell) -> None:
    """An exposed secrets.json is exit 1 with its chmod, a broken accounts.toml exit 2; both stay."""
    shell.add("work")
    (shell.home / "secrets.json").chmod(0o644)
    assert "run: chmod 600" in shell.run("add", "b", "--kind", "setup-token", given=PLANTED, code=1).stderr
    (shell.home / "secrets.json").chmod(0o600)
    (shell.home / "accounts.toml").write_text("version = 1\nx")

    assert ":2: not valid TOML" in shell.run("add", "b", "--kind", "setup-token", given=PLANTED, code=2).stderr
    assert ":2: not valid TOML" in shell.run("accounts", code=2).stderr
    assert (shell.home / "accounts.toml").read_text() == "version = 1\nx"


def test_twins_become_one(shell: Shell) -> None:
    """Of several programs that add one name at once one wins, and no secret is left over (X20)."""
    shell.add("first")
    environ = {"PATH": "/usr/bin:/bin", "FLOWPOOL_HOME": str(shell.home)}
    line = [sys.executable, "-m", "flowpool", "add", "work", "--kind", "setup-token", "--no-verify"]
    adders = [subprocess.Popen(line, stdin=-1, stdout=-1, stderr=-1, env=environ, cwd=ROOT) for _ in range(4)]
    for adder in adders:
        adder.communicate(PLANTED.encode(), timeout=60)

    assert sorted(adder.returncode for adder in adders) == [0, 1, 1, 1]
    known = book.load(shell.home / "accounts.toml")
    assert sorted(one.name for one in known) == ["first", "work"]
    assert set(FileStore(shell.home / "secrets.json").ids()) == {one.id for one in known}


def login_file(
    name: str, *, refresh: str | None = "sk-ant-ort01-PLANTED", ends_in: timedelta = timedelta(hours=8)
) -> str:
    """A login file of its own, whose access token ends so soon."""
    ends = int((datetime.now(UTC) + ends_in).timestamp() * 1000)
    return json.dumps(
        {"accessToken": planted(name), "refreshToken": refresh and f"{refresh}-{name}", "expiresAt": ends}
    )


POORER = [  # what comes, why it is not taken
    (login_file("alone", refresh=None), "it renews itself, and the new one cannot"),
    (login_file("stale", ends_in=timedelta(hours=-1)), "it is live, and the new one has expired"),
    (login_file("older", ends_in=timedelta(hours=7)), "it was renewed later than the new one, which may be spent"),
]


@pytest.mark.parametrize(("given", "why"), POORER, ids=["alone", "stale", "older"])
def test_a_poorer_secret_is_taken_by_force_only(shell: Shell, given: str, why: str) -> None:
    """A good secret is not lost to one that can do less, and the line says how to do it all the same."""
    shell.add("work", kind="oauth", secret=login_file("good"))
    before = (shell.home / "secrets.json").read_bytes()
    done = shell.run("add", "work", "--replace", given=given, code=1)

    assert done.stderr == (
        f"flowpool: the secret that work has is better: {why}; nothing was saved; add --force to replace it all the same, "
        "or run: flowpool login work\n"
    )
    assert (shell.home / "secrets.json").read_bytes() == before
    shell.run("add", "work", "--replace", "--force", given=given)
    assert (shell.home / "secrets.json").read_bytes() != before


def test_a_setup_token_seen_again_grows_no_younger(shell: Shell) -> None:
    """Its end stays where it was when it was first seen."""
    shell.add("work")
    (account,) = book.load(shell.home / "accounts.toml")
    store = FileStore(shell.home / "secrets.json")
    first = store.get(account.id)
    shell.add("work", "--replace")
    assert store.get(account.id).expires_at == first.expires_at
    shell.add("work", "--replace", secret=planted("another"))
    assert store.get(account.id).expires_at != first.expires_at


TWIN = "the account work has this secret already; make another one for"
ALONE = "this is a refresh token alone; pipe in the whole login file"
REFUSED = [  # arguments, given, the line
    (
        ("home", "--kind", "setup-token"),
        PLANTED,
        f"{TWIN} home, then run: flowpool add home --kind setup-token",
    ),
    (
        ("home", "--kind", "oauth"),
        f"'{PLANTED}'",
        f"{TWIN} home, then run: flowpool login home",
    ),
    (
        ("other", "--replace"),
        PLANTED,
        f"{TWIN} other, then run: flowpool add other --replace --kind setup-token",
    ),
    (
        ("wrok", "--replace"),
        "x",
        "there is no account wrok; did you mean work? To add it, run: flowpool add wrok --kind setup-token",
    ),
    (
        ("zz", "--replace", "--kind", "oauth"),
        "x",
        "there is no account zz; there are: work, other; to add it, run: flowpool add zz --kind oauth",
    ),
    (
        ("work", "--kind", "setup-token"),
        "x",
        "there is an account work already; to give it a new secret, run: flowpool add work --replace",
    ),
    (
        ("home", "--kind", "setup-token"),
        "sk-ant-api03-x",
        "this is an API key, not for --kind setup-token; run: flowpool add home --kind api-key",
    ),
    (
        ("work", "--replace"),
        "sk-ant-api03-x",
        "this is an API key, not for --kind setup-token; run: flowpool add work --replace --kind api-key",
    ),
    (
        ("home", "--kind", "oauth"),
        "sk-ant-ort01-x",
        f"{ALONE}; run: flowpool add home --kind oauth < ~/.claude/.credentials.json",
    ),
    (
        ("work", "--replace"),
        b"\xff\xfe",
        "the secret is not text; run: flowpool add work --replace --kind setup-token",
    ),
]


@pytest.mark.parametrize(("arguments", "given", "line"), REFUSED, ids=[str(number) for number in range(len(REFUSED))])
def test_a_refusal_is_one_line_with_its_command_and_changes_nothing(
    shell: Shell, arguments: tuple[str, ...], given: str | bytes, line: str
) -> None:
    """It names the account as typed, and all files stay byte for byte."""
    shell.add("work", secret=PLANTED)
    shell.add("other")
    before = {path.name: path.read_bytes() for path in shell.home.iterdir()}
    done = shell.run("add", *arguments, given=given, code=1)

    assert (done.stdout, done.stderr) == ("", f"flowpool: {line}\n")
    assert {path.name: path.read_bytes() for path in shell.home.iterdir()} == before


def test_the_first_is_not_replaced_but_added(shell: Shell) -> None:
    """In an empty pool the way to add it is all there is to say."""
    err = shell.run("add", "work", "--replace", given=PLANTED, code=1).stderr

    assert err == "flowpool: there is no account work; to add it, run: flowpool add work --kind setup-token\n"


def test_an_account_may_be_given_its_own_secret_again(shell: Shell) -> None:
    """Also when another one has the same from long ago."""
    shell.add("work")
    shell.add("home")
    path = shell.home / "secrets.json"
    path.write_text(path.read_text().replace(planted("home"), planted("work")))

    assert shell.run("add", "work", "--replace", given=planted("work")).stdout.startswith("replaced the secret of work")


USAGES = [
    ("add", "work", "hunter2", "--kind", "api-key"),
    ("add", "work", "--token", "hunter2"),
    ("add", "work", "--token=hunter2"),
    ("add", "work", "--api-key", "hunter2", "--kind", "api-key"),
    ("add", "--SECRET", "hunter2", "work"),
]


@pytest.mark.parametrize("arguments", USAGES, ids=range(len(USAGES)))
def test_a_secret_as_an_argument_is_told_where_it_belongs(shell: Shell, arguments: tuple[str, ...]) -> None:
    """Whatever the option was called; a real slip is answered with the nearest option."""
    assert shell.run(*arguments, code=2).stderr.splitlines()[-1] == (
        "Error: a secret comes from stdin or a hidden prompt, never as an argument, where the shell's history would keep it; "
        "run: flowpool add NAME --kind setup-token"
    )
    assert "'--kind'" in shell.run("add", "work", "--knid", "oauth", code=2).stderr


def test_an_unusual_secret_is_added_with_a_word(shell: Shell) -> None:
    """What does not begin as login tokens do may be a slip."""
    shell.add("first")
    done = shell.run("add", "work", "--kind", "setup-token", given="hello-world-this")

    assert done.stdout == f"added work (setup-token, anthropic){UNCHECKED}\n"
    assert done.stderr == (
        "flowpool: a setup-token begins with sk-ant-oat so far, and this secret does not; it was taken, as that may change; "
        "if it is the wrong one, run: flowpool add work --replace\n"
    )


def asking(shell: Shell, address: Address) -> None:
    """Let `add` ask what listens there."""
    shell.verifies = True
    shell.home.mkdir(exist_ok=True)
    text = f'providers.anthropic.upstream = "http://{address}"\ncredentials.backend = "file"\n'
    (shell.home / "config.toml").write_text(text)


def test_the_provider_is_asked_before_a_secret_is_kept(shell: Shell) -> None:
    """What it accepts is kept and said to be; what it refuses leaves every file as it was."""
    heard: list[bytes] = []
    with listening(reply(b"{}"), heard) as address:
        asking(shell, address)
        done = shell.run("add", "work", "--kind", "setup-token", given=planted("work"))
    assert (done.stdout, done.stderr) == ("added work (setup-token, anthropic); checked: accepted\n", "")
    assert len(heard) == 1

    before = {path.name: path.read_bytes() for path in shell.home.iterdir() if path.name != "config.toml"}
    with listening(reply(b"", "401 Unauthorized"), []) as address:
        asking(shell, address)
        for arguments in (("home", "--kind", "setup-token"), ("work", "--replace")):
            done = shell.run("add", *arguments, given=planted("refused"), code=1)
            assert (done.stdout, done.stderr.count("\n")) == ("", 1)
            assert done.stderr.startswith(
                "flowpool: anthropic does not accept this setup-token (401); nothing was saved;"
            )
    assert {path.name: path.read_bytes() for path in shell.home.iterdir() if path.name != "config.toml"} == before


@pytest.mark.parametrize("given", ["", " \n", "sk-ant-api03-x", "sk-ant-at01-short"], ids=range(4))
def test_what_is_no_secret_is_not_asked_about(shell: Shell, given: str) -> None:
    """A blank, a secret of another kind and one that is too short-lived are refused here."""
    heard: list[bytes] = []
    with listening(reply(b"{}"), heard) as address:
        asking(shell, address)
        err = shell.run("add", "work", "--kind", "setup-token", given=given, code=1).stderr

    assert heard == []
    assert "; run: flowpool add work --kind " in err


def test_nothing_is_asked_with_no_verify(shell: Shell) -> None:
    """--no-verify keeps the secret unasked, and the help has it."""
    heard: list[bytes] = []
    with listening(reply(b"", "401 Unauthorized"), heard) as address:
        asking(shell, address)
        done = shell.run("add", "work", "--kind", "setup-token", "--no-verify", given=planted("work"))

    assert done.stdout == f"added work (setup-token, anthropic){UNCHECKED}\n"
    assert heard == []
    assert "--no-verify" in shell.run("add", "--help").stdout


def test_where_secrets_are_kept_is_said_once(shell: Shell) -> None:
    """With the first account, and when the others' secrets are not in that place."""
    said = "flowpool: secrets are kept in the file "
    first = ("add", "work", "--kind", "setup-token")
    assert shell.run(*first, given=planted("work")).stderr.startswith(said)
    assert shell.run("add", "home", "--kind", "setup-token", given=planted("home")).stderr == ""
    assert shell.run("add", "work", "--replace", given=planted("anew")).stderr == ""
    (shell.home / "secrets.json").unlink()
    assert shell.run("add", "work", "--replace", given=planted("work")).stderr.startswith(said)


TOLD = [  # what the proxy answers, what the line has, what stderr has
    (b'{"reloaded": true, "notices": []}', "; the running proxy has it", ""),
    (b'{"reloaded": false, "notices": []}', "", "flowpool: the running proxy is still reading the secrets\n"),
    (b'{"reloaded": false, "notices": ["a"]}', "", "flowpool: a\n"),
]


@pytest.mark.parametrize(("answer", "has", "says"), TOLD, ids=range(len(TOLD)))
def test_a_running_proxy_is_said_to_have_it(shell: Shell, answer: bytes, has: str, says: str) -> None:
    """A new account and a new secret, once the proxy says so; its state is its own."""
    shell.add("first")
    held(shell)
    with listening(reply(answer), []) as address:
        announce(shell.home, address)
        new = shell.run("add", "work", "--kind", "setup-token", given=planted("work"))
        again = shell.run("add", "first", "--replace", given=planted("again"))
        shell.run("disable", "first")
        off = shell.run("add", "first", "--replace", given=planted("off"))

    assert new.stdout == f"added work (setup-token, anthropic){has}{UNCHECKED}\n"
    assert again.stdout == f"replaced the secret of first (setup-token, anthropic){has}{UNCHECKED}\n"
    assert off.stdout == f"replaced the secret of first (setup-token, anthropic){UNCHECKED}\n"
    assert {new.stderr, again.stderr, off.stderr} == {says}
    assert rows(shell) == [13, 18, 19]


def test_whose_a_login_is_comes_from_the_provider(shell: Shell) -> None:
    """A login whose scope allows it is asked about once it was accepted; the line and the account say whose it is."""
    said = {"account": {"uuid": "u-1", "email": "me@example.org"}, "organization": {"uuid": "o-1", "name": "Org"}}
    heard: list[bytes] = []
    with listening(reply(json.dumps(said).encode()), heard) as address:
        asking(shell, address)
        done = shell.run("add", "work", "--kind", "oauth", given=login_file("work"))
        again = shell.run("add", "home", "--kind", "oauth", given=login_file("home"), code=1)

    assert done.stdout == "added work (oauth, anthropic): me@example.org, Org; checked: accepted\n"
    assert again.stderr == (
        "flowpool: this login (me@example.org, Org) is the account work already, and not home; run: flowpool login work\n"
    )
    assert [one.split()[1] for one in heard] == [b"/v1/models", b"/api/oauth/profile"] * 2
    (account,) = book.load(shell.home / "accounts.toml")
    assert account.identity == Identity(
        owner="u-1", organization="o-1", email="me@example.org", organization_name="Org"
    )


def held(shell: Shell) -> None:
    """A limit, and what the old secret was refused for."""
    (account,) = book.load(shell.home / "accounts.toml")
    now = datetime.now(UTC)
    holds = tuple(
        Hold(
            account=account.id,
            family=None,
            row=row,
            until=now + timedelta(hours=1),
            because="x",
            windows=frozenset(),
            set_at=now,
        )
        for row in (13, 18, 19)
    )
    state = State(shell.home / "state.sqlite3")
    state.put(Remembered(holds={account.id: holds}))
    state.close()


def rows(shell: Shell) -> list[int]:
    """Of the holds that the next proxy restores."""
    found = reader.remembered(shell.home / "state.sqlite3").holds
    return sorted(hold.row for holds in found.values() for hold in holds)


def test_a_new_secret_ends_what_the_old_one_was_held_for(shell: Shell) -> None:
    """Without a proxy, holds of rows 18 and 19 go from the state, no limit does; also when a dead proxy left its file."""
    shell.add("work")
    held(shell)
    done = shell.run("add", "work", "--replace", given=planted("anew"))
    assert (done.stdout, done.stderr) == (f"replaced the secret of work (setup-token, anthropic){UNCHECKED}\n", "")
    assert rows(shell) == [13]

    held(shell)
    with listening(b"", []) as address:
        pass
    announce(shell.home, address)
    shell.run("add", "work", "--replace", given=planted("once-more"))
    assert rows(shell) == [13]


def test_a_state_that_cannot_be_written_is_a_word_on_stderr(shell: Shell) -> None:
    """The secret is replaced all the same: exit 0."""
    shell.add("work")
    (shell.home / "state.sqlite3").mkdir()
    done = shell.run("add", "work", "--replace", given=planted("anew"))

    assert done.stdout.startswith("replaced the secret of work")
    assert done.stderr.startswith("flowpool: work may stay held for its old secret: ")
    assert done.stderr.count("\n") == 1


def test_another_provider_is_refused() -> None:
    """An account stays with its provider."""
    with pytest.raises(Failure, match="of anthropic, not of openai"):
        command._kind(WORK, "work", None, "openai")


def test_a_terminal_is_asked_without_echo(shell: Shell) -> None:
    """On a terminal the secret is prompted for and what is typed is not shown."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.environ["FLOWPOOL_HOME"] = str(shell.home)
        line = [sys.executable, "-m", "flowpool", "add", "work", "--kind", "setup-token", "--no-verify"]
        os.execv(sys.executable, line)  # noqa: S606  # the child itself becomes the program
    seen = b""
    while b"not shown" not in seen:
        seen += os.read(terminal, 1024)
    os.write(terminal, f"{PLANTED}\n".encode())
    try:
        while chunk := os.read(terminal, 1024):
            seen += chunk
    except OSError:
        pass  # so Linux says that the other side is gone
    os.close(terminal)

    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert b"added work" in seen
    assert PLANTED.encode() not in seen
