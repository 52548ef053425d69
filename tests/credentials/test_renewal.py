"""When a login is renewed, how long is waited after failures, and what becomes of a credential."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from credentials.renewal import Granted, backoff, due_at, fingerprint, is_better, renewed
from credentials.secret import Secret
from tests.credentials.journals import NOON, granted, login

moments = st.datetimes(datetime(1, 1, 2), datetime(9999, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
names = st.text("abcdef0123456789", min_size=1, max_size=12)


@given(st.text(max_size=50))
def test_a_fingerprint_names_and_does_not_tell(text: str) -> None:
    """The same for the same token, 16 digits, and no part of the text."""
    found = fingerprint(Secret(text))
    assert found == fingerprint(Secret(text)) != fingerprint(Secret(f"{text}x"))
    assert len(found) == 16
    assert int(found, 16) >= 0


@given(names, moments, st.integers(0, 9))
def test_it_is_due_some_minutes_before_its_end(account: str, ends: datetime, generation: int) -> None:
    """Five to ten, and always the same."""
    credential = replace(login(generation), expires_at=ends)
    due = due_at(account, credential)
    assert due is not None
    assert timedelta(seconds=300) <= ends - due <= timedelta(seconds=600)
    assert due == due_at(account, credential)


def test_accounts_are_due_at_moments_of_their_own() -> None:
    """A hundred logins of one minute are spread over the five, and each generation anew."""
    found = {due_at(str(number), login(1)) for number in range(100)}
    assert len(found) == 100
    known = [due for due in found if due]
    assert max(known) - min(known) > timedelta(minutes=4)
    assert due_at("a", login(1)) != due_at("a", login(2))


def test_what_cannot_be_renewed_is_never_due() -> None:
    """Without a refresh token, or without a known end."""
    assert due_at("a", login(1, refresh=False)) is None
    assert due_at("a", replace(login(1), expires_at=None)) is None


def test_an_end_at_the_beginning_of_time_is_no_fault() -> None:
    """There is nothing before it."""
    start = datetime(1, 1, 1, tzinfo=UTC)
    assert due_at("a", replace(login(1), expires_at=start)) == start


@given(st.integers(-5, 10**6))
def test_the_pauses_double_up_to_a_quarter_of_an_hour(failures: int) -> None:
    """They never shrink."""
    assert timedelta(seconds=30) <= backoff(failures) <= backoff(failures + 1) <= timedelta(minutes=15)


def test_the_first_pauses() -> None:
    """In seconds."""
    assert [backoff(count).total_seconds() for count in range(1, 8)] == [30, 60, 120, 240, 480, 900, 900]


def test_a_new_pair_replaces_what_it_says_and_no_more() -> None:
    """What the endpoint did not say anew is kept."""
    old = replace(
        login(1), refresh_expires_at=NOON + timedelta(days=20), extras={"subscriptionType": "max", "scopes": ("a",)}
    )
    given = Granted(access=Secret("sk-ant-oat01-NEW"), expires_at=NOON, extras={"scopes": ("b",)})
    new = renewed(old, given)
    assert (new.kind, new.access, new.refresh) == (old.kind, given.access, old.refresh)
    assert (new.expires_at, new.refresh_expires_at) == (NOON, old.refresh_expires_at)
    assert new.extras == {"subscriptionType": "max", "scopes": ("b",)}

    ends = NOON + timedelta(days=29)
    new = renewed(old, replace(granted(2), refresh_expires_at=ends))
    assert (new.refresh, new.refresh_expires_at) == (granted(2).refresh, ends)


def test_what_was_said_of_the_owner() -> None:
    """Only what was said."""
    assert granted(2).whose() == {"owner": "u-1"}
    assert replace(granted(2), owner="", organization_name="Acme").whose() == {"organization_name": "Acme"}


def test_which_copy_of_a_login_is_better() -> None:
    """Another refresh token and a later end; never a poorer one."""
    ours, hour = login(1), timedelta(hours=1)
    assert is_better(login(2, timedelta(hours=9)), ours)
    assert is_better(login(2), replace(ours, expires_at=None))
    for poorer in (
        None,
        login(1, timedelta(hours=9)),
        login(2, hour),
        login(2),
        login(2, timedelta(hours=9), refresh=False),
        replace(login(2), expires_at=None),
    ):
        assert not is_better(poorer, ours)
