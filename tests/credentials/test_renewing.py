"""One renewal: one question at most, the pair in two hands before it is written, and nothing spent twice."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credentials.renewal import Later, Refused, Reply, Systemic
from credentials.renewing import KEEPING, TURN, Errand, Renewing
from credentials.web import UnreachableError
from tests.credentials.journals import NOON, WORK, World, granted, login, print_of

SECONDS_45 = timedelta(seconds=45)


def test_a_new_pair_is_handed_over_then_written_then_noted() -> None:
    """The token counts as spent from the answer on, and the claim is let go."""
    world = World([granted(2)])
    outcome = world.renew()
    assert (outcome.name, world.events, world.generation) == ("renewed", ["ask 1", "hand over", "keep"], "2")
    assert world.journal.outcomes == ["sent", "sent", "kept"]
    assert world.journal.spent == {print_of(login(1)): "spent"}
    assert (world.journal.holder, world.journal.released) == ("", 1)
    assert world.handed[0].whose == {"owner": "u-1"}


def test_nothing_is_asked_without_a_refresh_token() -> None:
    """Nor is a turn taken."""
    world = World()
    world.store.put(WORK, login(1, refresh=False))
    assert world.renew().name == "none"
    assert (world.events, world.journal.released) == ([], 0)


def test_the_winner_of_a_race_is_adopted() -> None:
    """X10, X01: whoever waits for its turn finds the other's pair, and sends nothing."""
    world = World()
    world.journal.holder = "another"
    tries = iter(range(5))

    def on_claim() -> None:
        if next(tries) == 3:
            world.store.put(WORK, login(2))
            world.journal.holder = ""

    world.journal.on_claim = on_claim
    assert world.renew().name == "current"
    assert (world.events, world.generation) == ([], "2")


def test_a_turn_that_does_not_come_is_given_up() -> None:
    """After 150 s; the other's claim is left alone."""
    world = World()
    world.journal.holder = "another"
    assert world.renew().name == "failed"
    assert abs(world.slept - TURN) < 1
    assert (world.events, world.journal.holder) == ([], "another")


def test_what_is_not_due_is_left() -> None:
    """With --due, by what is stored now; without, it is renewed all the same."""
    world = World([granted(3)])
    world.store.put(WORK, login(2))
    assert world.renew(is_due_only=True).name == "current"
    assert world.events == []
    assert world.renew().name == "renewed"


def test_two_people_mean_one_renewal() -> None:
    """A command this soon after another sends nothing; a later one, or a proxy whose token was refused, does."""
    world = World([granted(2), granted(3), granted(4)])
    assert world.renew(is_asked_for=True).name == "renewed"
    world.now += timedelta(seconds=5)
    assert world.renew(is_asked_for=True).name == "current"
    assert world.renew().name == "renewed"
    world.now += timedelta(seconds=11)
    assert world.renew(is_asked_for=True).name == "renewed"


def test_invalid_grant_is_final() -> None:
    """The token is never sent again, whoever holds it and however often it is asked for."""
    world = World([Refused("400: not found")])
    first = world.renew()
    assert first == world.renew(is_asked_for=True) == world.renew(is_due_only=True)
    assert (first.is_known, world.renew().is_known) == (False, True)
    world.now += timedelta(days=40)
    outcome = world.renew()
    assert (outcome.name, outcome.because, world.events) == ("dead", "400: not found", ["ask 1"])
    assert world.journal.spent == {print_of(login(1)): "refused"}


def test_a_refusal_of_what_another_replaced_is_none() -> None:
    """A worker that was killed may have left its pair to its parent, who writes it just now."""
    world = World()

    def late() -> Reply:
        world.store.put(WORK, login(2))
        return Refused("400")

    world.replies = [late]
    assert world.renew().name == "current"


def test_a_token_that_was_spent_is_not_sent() -> None:
    """As when an old copy of the store came back."""
    world = World([granted(2)])
    world.renew()
    world.store.put(WORK, login(1))
    outcome = world.renew()
    assert (outcome.name, world.events.count("ask 1")) == ("dead", 1)
    assert "used before" in outcome.because


@pytest.mark.parametrize(
    ("reply", "name", "seconds"),
    [
        (Later("429: slow", SECONDS_45), "failed", 45),
        (Later("503", timedelta(seconds=3)), "failed", 30),
        (Later("500"), "failed", 30),
        (UnreachableError("Connection refused", was_sent=False), "failed", 30),
        (UnreachableError("no answer within 120 s", was_sent=True), "failed", 30),
        (Systemic("401: unknown client"), "systemic", 30),
    ],
    ids=range(6),
)
def test_what_decides_nothing_is_put_off(reply: Reply | Exception, name: str, seconds: float) -> None:
    """One question, the pause obeyed by who comes next, and the account alive."""
    world = World([reply, granted(2)])
    outcome = world.renew()
    assert (outcome.name, outcome.retry_at) == (name, NOON + timedelta(seconds=seconds))
    assert world.journal.outcomes == ["sent", "failed"]
    world.now += timedelta(seconds=seconds - 0.1)
    for is_due_only in (True, False):
        again = world.renew(is_due_only=is_due_only)
        assert (again.name, again.retry_at) == ("waiting", outcome.retry_at)
    assert world.events == ["ask 1"]
    world.now += timedelta(seconds=0.2)
    assert world.renew().name == "renewed"


def test_the_pauses_grow_and_a_success_ends_them() -> None:
    """30 s, 60 s, 120 s."""
    world = World([Later("500"), Later("500"), Later("500"), granted(2), Later("500")])
    for seconds in (30, 60, 120):
        outcome = world.renew()
        assert outcome.retry_at == world.now + timedelta(seconds=seconds)
        world.now = outcome.retry_at
    assert world.renew().name == "renewed"
    assert world.renew().retry_at == world.now + timedelta(seconds=30)


def test_a_pause_noted_before_the_clock_was_set_back_bars_nobody() -> None:
    """A computer that was a year ahead for a while must not wait for a year."""
    world = World([Later("429", SECONDS_45), granted(2)])
    world.renew()
    world.now -= timedelta(days=365)
    assert world.renew().name == "renewed"


def test_logins_that_last_minutes_are_renewed_at_half_time() -> None:
    """They are due as soon as they come; without a rest one would be spent every second."""
    world = World([granted(2, timedelta(minutes=2)), granted(3, timedelta(hours=9))])
    assert world.renew(is_due_only=True).name == "renewed"
    rests = world.renew(is_due_only=True)
    assert (rests.name, rests.retry_at) == ("waiting", NOON + timedelta(minutes=1))
    world.now += timedelta(minutes=1)
    assert world.renew(is_due_only=True).name == "renewed"


@pytest.mark.parametrize("refresh", [1, 2], ids=["the same pair", "a new refresh token"])
def test_a_refused_token_that_is_given_again_is_no_new_login(refresh: int) -> None:
    """It is not asked for with each request; what came beside it is kept."""
    given = replace(granted(1), refresh=login(refresh).refresh)
    world = World([given, given])
    outcome = world.renew()
    assert (outcome.name, outcome.retry_at) == ("failed", NOON + timedelta(seconds=30))
    assert "again" in outcome.because
    assert world.store.get(WORK).refresh == login(refresh).refresh
    assert world.renew().name == "waiting"
    assert len([event for event in world.events if event.startswith("ask")]) == 1


def test_the_same_pair_with_a_later_end_is_a_renewal() -> None:
    """Where nobody refused it."""
    world = World([granted(1)])
    assert world.renew(is_due_only=True).name == "renewed"
    assert world.store.get(WORK).expires_at == NOON + timedelta(hours=8)


def test_a_person_obeys_the_service_alone() -> None:
    """Our own pause is skipped, a Retry-After is not."""
    world = World([Later("500"), Later("429", SECONDS_45), granted(2)])
    assert world.renew().name == "failed"
    assert world.renew(is_asked_for=True).name == "failed"
    assert world.renew(is_asked_for=True).name == "waiting"
    assert world.events == ["ask 1"] * 2


def test_a_new_login_does_not_inherit_our_pause() -> None:
    """It belonged to the token that failed."""
    world = World([Later("500"), granted(3)])
    world.renew()
    world.store.put(WORK, login(2))
    assert world.renew().name == "renewed"


@pytest.mark.parametrize("method", ["claim", "last", "is_spent", "note", "extend"])
def test_without_a_journal_nothing_is_asked(method: str) -> None:
    """A pair that might not be kept must not come."""
    world = World([granted(2)])
    world.journal.fails = {method}
    outcome = world.renew()
    assert (outcome.name, outcome.because) == ("failed", "the state cannot be written; run: df -h")
    assert (world.events, world.generation) == ([], "1")


def test_a_journal_that_fails_later_stops_nothing() -> None:
    """The pair comes first; the token counts as spent with the next note that can be written."""
    world = World()

    def fill() -> Reply:
        world.journal.fails = {"note", "extend", "release"}
        return granted(2)

    world.replies = [fill]
    world.put_fails = 3
    assert world.renew().name == "renewed"
    assert world.generation == "2"


def test_a_machine_that_slept_lost_its_turn() -> None:
    """Nothing is sent then."""
    world = World([granted(2)])
    note = world.journal.note

    def slept(*args: object, **kwargs: object) -> None:
        note(*args, **kwargs)  # type: ignore[arg-type]
        world.journal.holder = "another"

    world.journal.note = slept  # type: ignore[method-assign]
    assert world.renew().name == "failed"
    assert world.events == []


def test_a_full_disk_is_waited_for() -> None:
    """The pair is tried to be kept for ten minutes, and then named as lost."""
    world = World([granted(2)])
    world.put_fails = 20
    assert world.renew().name == "renewed"
    assert world.slept > 100

    world = World([granted(2)])
    world.put_fails = 10_000
    outcome = world.renew()
    assert outcome.name == "failed"
    assert "lost" in outcome.because
    assert KEEPING <= world.slept < KEEPING + 30
    assert world.handed


def test_another_programs_newer_pair_is_taken_before_ours_is_spent() -> None:
    """No question is asked; our pauses end."""
    world = World(source=login(2, timedelta(hours=5)))
    assert world.renew().name == "adopted"
    assert (world.events, world.generation) == (["keep"], "2")
    assert world.journal.outcomes == ["kept"]
    assert world.journal.spent == {}


def test_another_programs_newer_pair_saves_a_dead_login() -> None:
    """Looked for once more after the refusal, and by every later try."""
    world = World()

    def renewed_elsewhere() -> Reply:
        world.source = login(2)
        return Refused("400")

    world.replies = [renewed_elsewhere]
    assert world.renew().name == "adopted"

    world = World([Refused("400")])
    assert world.renew().name == "dead"
    world.source = login(2)
    assert world.renew().name == "adopted"
    assert world.generation == "2"


def test_a_pair_that_cannot_be_taken_over_is_not_waited_for() -> None:
    """It is safe where it is: the fault is told, ours is not spent, and the claim is let go."""
    world = World(source=login(2))
    world.store.put(WORK, login(1, -timedelta(hours=1)))
    world.put_fails = 1
    with pytest.raises(OSError, match="No space left"):
        world.renew()
    assert (world.events, world.slept, world.journal.holder) == ([], 0, "")
    assert world.renew().name == "adopted"


def test_a_login_removed_while_another_is_taken_over_stays_removed() -> None:
    """What the lock showed is said."""
    world = World()

    def gone() -> Reply:
        world.source = login(2)
        _remove(world)
        return Refused("400")

    world.replies = [gone]
    assert world.renew().name == "gone"


@pytest.mark.parametrize(
    "source",
    [None, login(2, -timedelta(hours=1)), login(2, refresh=False), replace(login(2), expires_at=None)],
    ids=["unreadable", "older", "no refresh token", "no end"],
)
def test_a_poorer_copy_changes_nothing(source: object) -> None:
    """Ours is renewed as if there were none."""
    world = World([granted(3)], source=source)  # type: ignore[arg-type]
    assert world.renew().name == "renewed"
    assert world.generation == "3"


def test_a_copy_that_was_spent_is_not_taken() -> None:
    """It ends later by its file, and is good for nothing."""
    world = World([Refused("400")], source=login(2))
    world.journal.spent[print_of(login(2))] = "refused"
    assert world.renew().name == "dead"
    assert world.generation == "1"


def test_a_login_given_meanwhile_stays() -> None:
    """Whoever replaced or removed the account while the endpoint answered is right."""
    for change, name in ((lambda world: world.store.put(WORK, login(7)), "current"), (_remove, "gone")):
        world = World()
        world.replies = [_after(world, change)]
        assert world.renew().name == name


def _remove(world: World) -> None:
    world.store.delete(WORK)


def _after(world: World, change: Callable[[World], object]) -> Callable[[], Reply]:
    def answer() -> Reply:
        change(world)
        return granted(2)

    return answer


def test_a_refresh_token_that_stays_good_is_not_spent() -> None:
    """Some answers bring an access token alone."""
    world = World([replace(granted(2), refresh=None), granted(3)])
    assert world.renew().name == "renewed"
    assert world.journal.spent == {}
    assert world.store.get(WORK).refresh == login(1).refresh
    assert world.renew().name == "renewed"


def test_signals_are_kept_away_from_the_sending_to_the_last_note() -> None:
    """And no longer."""
    world = World([granted(2)])
    inside: list[str] = []

    @contextmanager
    def shield() -> Iterator[None]:
        world.events.append("deaf")
        yield
        inside.extend(world.events)
        world.events.append("hears")

    Renewing(
        errand=Errand(account_id=WORK, provider="vendor"),
        journal=world.journal,
        store=world.store,
        ask=world.ask,
        keep=world.keep,
        shield=shield,
        now=lambda: NOON,
    ).run()
    assert inside == ["deaf", "ask 1", "keep"]
    assert world.journal.outcomes[-1] == "kept"


@given(
    st.lists(
        st.sampled_from(["renew", "person", "due", "refuse", "fail", "grant", "hour", "restore", "source", "newer"]),
        max_size=30,
    )
)
def test_whatever_happens_no_token_is_exchanged_twice(steps: list[str]) -> None:
    """The endpoint rotates; old copies of the store come back, other programs renew, tries fail."""
    world = World()
    generation, exchanged = 1, list[str]()
    plan: list[str] = []

    def answer() -> Reply:
        nonlocal generation
        what = plan.pop() if plan else "grant"
        if what == "fail":
            return Later("500")
        if what == "refuse":
            return Refused("400")
        exchanged.append(world.events[-1])
        generation += 1
        return granted(generation, timedelta(hours=8) + (world.now - NOON))

    for step in steps:
        world.replies = [answer]
        match step:
            case "refuse" | "fail" | "grant":
                plan.append(step)
            case "hour":
                world.now += timedelta(hours=1)
            case "restore":
                world.store.put(WORK, login(1, timedelta(minutes=1)))
            case "source":
                world.source = world.store.get(WORK)
            case "newer":
                generation += 1
                world.source = login(generation, timedelta(hours=9) + (world.now - NOON))
            case _:
                world.renew(is_due_only=step == "due", is_asked_for=step == "person")
        assert len(exchanged) == len(set(exchanged))
        assert world.journal.holder == ""
