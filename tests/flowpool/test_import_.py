"""Claude Code's own login comes into the pool, and stays where it is."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from credentials.file import FileStore
from home import accounts as book
from routing.words import Identity, Kind
from tests.flowpool.cli import Shell
from tests.flowpool.proxy import listening, reply

ACCESS, REFRESH = "sk-ant-oat01-CLIENT-access", "sk-ant-ort01-CLIENT-refresh"
ME = {
    "emailAddress": "me@example.org",
    "accountUuid": "u-1",
    "organizationUuid": "o-1",
    "organizationName": "Example Org",
}
SAYS = "me@example.org, Example Org, max 20x; not checked: its first request will tell\n"


def text(*, ends_in: timedelta = timedelta(hours=8), nested: bool = True, **changes: object) -> str:
    """A login file."""
    inner = {
        "accessToken": ACCESS,
        "refreshToken": REFRESH,
        "expiresAt": int((datetime.now(UTC) + ends_in).timestamp() * 1000),
        "scopes": ["user:inference"],
        "subscriptionType": "max",
        "rateLimitTier": "default_claude_max_20x",
    } | changes
    return json.dumps({"claudeAiOauth": inner} if nested else inner)


def logged_in(shell: Shell, login: str | None = None, folder: Path | None = None) -> Path:
    """Let Claude Code be logged in as ME; return its login file."""
    file = (folder or shell.home / ".claude") / ".credentials.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text() if login is None else login)
    ((folder or shell.home) / ".claude.json").write_text(json.dumps({"oauthAccount": ME, "projects": {}}))
    return file


def test_the_clients_login_becomes_an_account(shell: Shell) -> None:
    """Its address tells the name, its file is the source, its refresh token's age is not known; and it has two owners now."""
    file = logged_in(shell)
    before = file.read_bytes(), file.stat().st_mtime_ns
    done = shell.run("import", "--no-verify")

    assert done.stdout == f"imported me: {SAYS}"
    assert done.stderr.splitlines()[-1] == (
        "flowpool: me's login has two owners now, Claude Code and flowpool, and each renewal by one may log the other out; "
        "better give it a login of its own; run: flowpool login me"
    )
    (account,) = book.load(shell.home / "accounts.toml")
    assert (account.name, account.kind, account.source) == ("me", Kind.OAUTH, str(file))
    assert account.identity == Identity(
        owner="u-1", organization="o-1", email="me@example.org", organization_name="Example Org", plan="max 20x"
    )
    kept = FileStore(shell.home / "secrets.json").get(account.id)
    assert (kept.access.reveal(), kept.refresh and kept.refresh.reveal()) == (ACCESS, REFRESH)
    assert kept.refresh_expires_at is None
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before


def test_again_is_the_same_account(shell: Shell) -> None:
    """Known by its identity, else by its secret, whatever its name is by now."""
    file = logged_in(shell)
    shell.run("import", "--no-verify", "--name", "work")
    assert shell.run("import", "--no-verify").stdout == f"imported work again: {SAYS}"
    moved = shell.home / "copy.json"
    file.rename(moved)
    assert shell.run("import", "--no-verify", "--from", str(moved)).stdout == f"imported work again: {SAYS}"

    (account,) = book.load(shell.home / "accounts.toml")
    assert (account.name, account.source) == ("work", str(moved))


def test_the_folder_that_is_set_counts(shell: Shell) -> None:
    """CLAUDE_CONFIG_DIR's login is taken, and whose it is stands in that folder alone."""
    logged_in(shell, "{")
    folder = shell.home / "other"
    file = logged_in(shell, text(nested=False), folder)
    (folder / ".claude.json").write_text(json.dumps({"oauthAccount": ME | {"emailAddress": "you@example.org"}}))
    shell.environ["CLAUDE_CONFIG_DIR"] = str(folder)

    assert shell.run("import", "--no-verify").stdout.startswith("imported you: you@example.org")
    (account,) = book.load(shell.home / "accounts.toml")
    assert account.source == str(file)


def test_a_file_from_elsewhere_is_nobodys(shell: Shell) -> None:
    """What the home remembers is of the home's login, not of any file (X13)."""
    logged_in(shell)
    copy = shell.home / "backup" / ".credentials.json"
    copy.parent.mkdir()
    copy.write_text(text())

    assert shell.run("import", "--from", str(copy), "--no-verify").stdout.startswith("imported account-1: max 20x; ")
    (account,) = book.load(shell.home / "accounts.toml")
    assert (account.identity.owner, account.identity.email) == ("", "")


def test_a_stale_login_is_taken_unasked(shell: Shell) -> None:
    """Its access token has expired and its refresh token is there: nothing is wrong with it (X15)."""
    logged_in(shell, text(ends_in=timedelta(hours=-1)))
    heard: list[bytes] = []
    with listening(reply(b"", "401 Unauthorized"), heard) as address:
        (shell.home / "config.toml").write_text(f'providers.anthropic.upstream = "http://{address}"\n')
        done = shell.run("import")

    assert done.stdout == (
        "imported me: me@example.org, Example Org, max 20x; stale: its access token has expired, so it was not checked; "
        "the running proxy renews it, or run: flowpool refresh\n"
    )
    assert heard == []


def test_a_refused_login_is_not_kept(shell: Shell) -> None:
    """The way out is a login of its own."""
    logged_in(shell)
    with listening(reply(b"", "401 Unauthorized"), []) as address:
        (shell.home / "config.toml").write_text(f'providers.anthropic.upstream = "http://{address}"\n')
        done = shell.run("import", code=1)

    assert done.stderr == (
        "flowpool: anthropic does not accept this login (401); nothing was saved; log in anew, then run: flowpool login\n"
    )
    assert not (shell.home / "accounts.toml").exists()


def test_an_older_copy_does_not_replace_what_was_renewed(shell: Shell) -> None:
    """A file from before may hold a refresh token that is spent."""
    file = logged_in(shell, text(accessToken=f"{ACCESS}-2", refreshToken=f"{REFRESH}-2"))
    shell.run("import", "--no-verify")
    file.write_text(text(ends_in=timedelta(hours=1)))

    assert "the secret that me has is better: it was renewed later" in shell.run("import", "--no-verify", code=1).stderr
    shell.run("import", "--no-verify", "--force")


@pytest.mark.parametrize(
    ("login", "says"),
    [
        ("", "{file}: this is not Claude Code's login file"),
        ("{", "{file}: it is not valid JSON"),
        ("[]", "{file}: this is not Claude Code's login file"),
        ("{}", "{file}: it has no accessToken"),
        (text(refreshToken=None), "{file}: it has no refreshToken, so it ends within hours"),
        (text(accessToken="sk-ant-at01-short"), "{file}: this is a short-lived access token; make one that lasts with"),
        (text(accessToken="sk-ant-api03-key"), "{file}: this is an API key, not for --kind oauth"),
        (text(expiresAt="soon"), "{file}: its expiresAt is not a time in milliseconds"),
    ],
    ids=range(8),
)
def test_a_file_that_is_no_login_is_one_line(shell: Shell, login: str, says: str) -> None:
    """With the file and the way out; nothing is kept."""
    file = logged_in(shell, login)
    err = shell.run("import", code=1).stderr

    assert err.startswith(f"flowpool: {says.format(file=file)}")
    assert err.endswith("; run: flowpool login\n")
    assert err.count("\n") == 1
    assert "CLIENT" not in err
    assert not (shell.home / "accounts.toml").exists()


def test_a_file_that_cannot_be_read_is_one_line(shell: Shell) -> None:
    """One that is missing, a folder in its place, and links that go round."""
    shell.home.mkdir()
    file = shell.home / ".claude" / ".credentials.json"
    none = (
        f"flowpool: there is no login of Claude Code's in {file}; log in with Claude Code, or run: flowpool login w\n"
    )
    assert shell.run("import", "--name", "w", code=1).stderr == none
    file.parent.mkdir()
    file.symlink_to(file)
    assert shell.run("import", code=1).stderr.startswith(f"flowpool: {file}: Too many levels of symbolic links")
    file.unlink()
    file.mkdir()
    err = shell.run("import", code=1).stderr
    assert (err.startswith(f"flowpool: {file}: not a plain file"), err.count("\n")) == (True, 1)


def test_a_name_that_cannot_be_is_misuse(shell: Shell) -> None:
    """It is not quoted, for it may be a secret."""
    err = shell.run("import", "--name", "sk-ant-oat01-CLIENT", code=2).stderr
    assert "NAME must be 1 to 32 of" in err
    assert "CLIENT" not in err
