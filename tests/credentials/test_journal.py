"""Both journals keep the contract."""

from contextlib import closing
from pathlib import Path

from credentials.journal import Journal
from credentials.renewal import Renewal
from home.state.renewals import Renewals
from tests.credentials.journals import NOON, MemoryJournal

TRY = Renewal(fingerprint="f1", outcome="refused", at=NOON, failures=1, because="400")


def keeps_the_contract(journal: Journal) -> None:
    """A claim is held until it is let go; a try and what it spent are found again."""
    assert not journal.extend("vendor")
    assert journal.claim("vendor")
    assert not journal.claim("vendor")
    assert journal.extend("vendor")
    journal.release("vendor")
    assert not journal.extend("vendor")
    assert journal.last("a1") is None
    journal.note("a1", TRY, spent="refused")
    assert journal.last("a1") == TRY
    assert journal.is_spent("f1")
    assert not journal.is_spent("f2")


def test_the_journals(tmp_path: Path) -> None:
    """The one that tests use behaves as the one on the disk."""
    keeps_the_contract(MemoryJournal())
    with closing(Renewals(tmp_path / "state.sqlite3")) as journal:
        keeps_the_contract(journal)
