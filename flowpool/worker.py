"""The worker behind `flowpool refresh`: renews one login, and hands the pair to its parent before it writes it."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

from credentials import renewer, web
from credentials.backends import open_store
from credentials.errors import CredentialError
from credentials.renewal import Reply
from credentials.renewer import FAILED, GONE, Handed, Outcome
from credentials.renewing import Errand, Renewing
from credentials.secret import Secret
from credentials.way import DIRECT, Way
from home import accounts as book
from home import keeping, outbound, settings, sources
from home.errors import HomeError
from home.paths import Home
from home.version import version

PATIENCE = 120.0  # seconds for an answer: a late one is worth waiting for, as its pair would be lost
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


def work(home: Home, account_id: str, *, is_due_only: bool, is_asked_for: bool) -> None:
    """Renew it and say on stdout how that ended; whatever happens, the last line is the outcome."""
    try:
        outcome = _renew(home, account_id, is_due_only=is_due_only, is_asked_for=is_asked_for)
    except (CredentialError, HomeError) as error:
        outcome = Outcome(FAILED, str(error))
    except Exception as error:  # noqa: BLE001  # the parent is to hear of it
        outcome = Outcome(FAILED, f"a fault of flowpool's own, {type(error).__name__}")
    say(renewer.telling(outcome))


def say(line: str) -> None:
    """Write a line to the parent, past every buffer; a parent that is gone hears nothing."""
    with suppress(OSError):
        os.write(sys.stdout.fileno(), f"{line}\n".encode())


@contextmanager
def deaf() -> Iterator[None]:
    """Ignore what would end this process: a pair that is on its way is nowhere else."""
    numbers = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
    before = [signal.signal(number, signal.SIG_IGN) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _renew(home: Home, account_id: str, *, is_due_only: bool, is_asked_for: bool) -> Outcome:
    from home.state.renewals import Renewals  # noqa: PLC0415  # SQLAlchemy costs 200 ms

    chosen = settings.load(home.config)
    account = next((one for one in book.load(home.accounts) if one.id == account_id), None)
    if account is None:
        return Outcome(GONE, "there is no such account")
    way = outbound.way(chosen.outbound)
    backend = chosen.credentials.backend
    store = open_store(backend, home.state_folder, lambda: [one.id for one in book.load(home.accounts)])
    journal = Renewals(home.state)
    errand = Errand(
        account_id=account.id, provider=account.provider, is_due_only=is_due_only, is_asked_for=is_asked_for
    )
    try:
        return Renewing(
            errand=errand,
            journal=journal,
            store=store,
            ask=lambda refresh: ask(chosen.providers.anthropic.token_url, refresh, way),
            keep=lambda handed: keeping.keep(home.accounts, store, account, handed),
            source=lambda: sources.read(account),
            hand_over=_hand_over,
            shield=deaf,
        ).run()
    except CredentialError as error:
        raise error.naming(account.name) from None  # the cause may quote a secret
    finally:
        journal.close()


def _hand_over(handed: Handed) -> None:
    say(renewer.handing(handed))


def ask(token_url: str, refresh: Secret, way: Way = DIRECT) -> Reply:
    """Put the one question that spends a refresh token. Raises UnreachableError."""
    from providers.anthropic import tokens  # noqa: PLC0415  # the providers' code costs 100 ms

    question = web.Question(
        method="POST", url=token_url, headers=dict(tokens.fields(version())), body=tokens.body(refresh)
    )
    answer = web.ask(question, PATIENCE, way)
    return tokens.read(answer.status, answer.headers, answer.body, datetime.now(UTC), refresh)
