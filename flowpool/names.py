"""Names of accounts as they are typed: found, or answered with the nearest."""

import os
from collections.abc import Sequence

import click
from click.shell_completion import CompletionItem

from flowpool.errors import Failure
from home import accounts as book
from home.checks import nearest
from home.errors import HomeError
from home.paths import Home
from routing.words import Account

LONGEST = 32  # letters of a word that is quoted; a longer one may be a secret in the wrong place


def find(known: Sequence[Account], names: Sequence[str]) -> tuple[Account, ...]:
    """Return the accounts with these names, each once; raise Failure when one is not there."""
    by_name = {account.name: account for account in known}
    unknown = [name for name in dict.fromkeys(names) if name not in by_name]
    if unknown:
        raise Failure("; ".join(_say(name, tuple(by_name)) for name in unknown))
    return tuple(by_name[name] for name in dict.fromkeys(names))


def _say(name: str, known: tuple[str, ...]) -> str:
    shown = name if len(name) <= LONGEST and name.isprintable() and "sk-" not in name else "(hidden)"
    if not known:
        return f"there is no account {shown}: there are none yet; add one with: flowpool login NAME"
    near = nearest(name.lower(), known)
    hint = f"did you mean {near}?" if near else f"there are: {', '.join(known)}"
    return f"there is no account {shown}; {hint}"


def complete(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer the names that begin so, to a shell that completes."""
    try:
        known = book.load(Home.find(os.environ).accounts)
    except HomeError:
        return []
    return [CompletionItem(account.name) for account in known if account.name.startswith(begun)]
