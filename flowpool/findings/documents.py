"""The files that people read and edit: config.toml and accounts.toml. A missing one is not made."""

from credentials import files
from credentials.errors import Unreadable
from flowpool.findings.finding import Finding, editing, fail, ok, skip, told, warn
from home import accounts as book
from home import running, settings
from home.errors import HomeError
from home.paths import Home
from home.settings import Settings

CONFIG, ACCOUNTS = "config", "accounts"
CHANGED = running.CHANGED.partition(";")[0]


def config(home: Home) -> tuple[Settings | None, Finding]:
    """Read config.toml; None when it cannot be used."""
    try:
        data = files.read(home.config, private=False)
        chosen = settings.parse(home.config, data or b"")
    except (HomeError, Unreadable) as error:
        return None, fail(CONFIG, *told(error, editing(home.config)))
    proxy = running.read(home.running)
    if proxy is not None and running.is_changed(proxy, home.config):
        return chosen, warn(CONFIG, f"{home.config} was {CHANGED}", "flowpool restart")
    if data is None:
        return chosen, ok(CONFIG, f"{home.config} is not there yet: the defaults hold")
    return chosen, ok(CONFIG, f"{home.config}")


def accounts(home: Home) -> tuple[book.Accounts | None, Finding]:
    """Read accounts.toml; None when it cannot be used."""
    try:
        known = book.load(home.accounts)
    except HomeError as error:
        return None, fail(ACCOUNTS, *told(error, editing(home.accounts)))
    if not known:
        return known, skip(ACCOUNTS, "there are none yet: clients use their own login", "flowpool login")
    disabled = sum(not account.enabled for account in known)
    shown = "1 account" if len(known) == 1 else f"{len(known)} accounts"
    return known, ok(ACCOUNTS, f"{shown}, {disabled} disabled" if disabled else shown)
