"""Own answers A, B and C."""

import json
from datetime import datetime, timedelta

import pytest

from providers.anthropic.limited import gave_up
from providers.contract import Reply
from routing.decisions import Answer, Barred, GiveUp
from routing.readings import Reading, Status
from routing.verdicts import RESERVE_ROW
from routing.windows import Window
from routing.words import Account, AccountId, Kind
from tests.providers.samples import NOON, UNIFIED, at

WORK, HOME = AccountId("a1"), AccountId("a2")
ACCOUNTS = {
    WORK: Account(id=WORK, name="work", provider="anthropic", kind=Kind.OAUTH),
    HOME: Account(id=HOME, name="home", provider="anthropic", kind=Kind.SETUP_TOKEN),
}
HOUR = timedelta(hours=1)


def reading(key: str, used: float | None, reset: datetime | None, status: Status | None = None) -> Reading:
    window = Window.parse(key)
    assert window is not None
    return Reading(window=window, used=used, resets_at=reset, status=status, sent_at=NOON, taken_at=NOON)


def barred(account: AccountId, row: int | None, until: datetime | None = None, because: str = "why") -> Barred:
    return Barred(account=account, row=row, until=until, because=because)


def limited(first: Barred | None, *readings: Reading, others: tuple[Barred, ...] = ()) -> Reply:
    passed = (*((first,) if first else ()), *others)
    return gave_up(GiveUp(answer=Answer.LIMITED, because="", recovers=first, barred=passed), ACCOUNTS, readings, NOON)


def message(reply: Reply) -> str:
    tree = json.loads(reply.body)
    assert tree["type"] == "error"
    text = tree["error"]["message"]
    assert isinstance(text, str)
    return text


def unified(reply: Reply) -> dict[str, str]:
    return {name.removeprefix(UNIFIED): text for name, text in reply.headers if name.startswith(UNIFIED)}


def test_an_honest_limit() -> None:
    """The client learns the limit of the account that recovers first, when, and why each was passed over (X40)."""
    reply = limited(
        barred(WORK, 13, NOON + 2 * HOUR, "5h limit until 14:00 UTC"),
        reading("5h", 1.0, NOON + 2 * HOUR, Status.REJECTED),
        reading("7d", 0.53, NOON + 50 * HOUR, Status.ALLOWED),
        reading("7d_opus", 0.9, NOON + 50 * HOUR, Status.ALLOWED),
        others=(barred(HOME, 18, None, "login refused"),),
    )
    assert reply.status == 429
    assert json.loads(reply.body)["error"]["type"] == "rate_limit_error"
    assert unified(reply) == {
        "status": "rejected", "representative-claim": "five_hour", "reset": at(hours=2),
        "5h-status": "rejected", "5h-utilization": "1", "5h-reset": at(hours=2),
        "7d-status": "allowed", "7d-utilization": "0.53", "7d-reset": at(hours=50),
    }  # fmt: skip
    fields = dict(reply.headers)
    assert fields["retry-after"] == "7200"
    assert fields["content-length"] == str(len(reply.body))
    assert message(reply) == (
        "No account may serve before 14:00 UTC, when work recovers; work: 5h limit until 14:00 UTC; home: login refused"
    )


@pytest.mark.parametrize(
    ("readings", "hours", "claim"),
    [
        ((reading("7d_opus", 1.0, NOON + 50 * HOUR, Status.REJECTED),), 50, "seven_day_opus"),
        ((reading("7d_oi", 1.0, NOON + 50 * HOUR),), 50, "seven_day_overage_included"),
        ((reading("5h", 1.0, NOON + HOUR), reading("7d", 1.0, NOON + 50 * HOUR)), 50, "seven_day"),
        ((reading("5h", 0.4, NOON + HOUR), reading("7d", 0.97, NOON + 50 * HOUR)), 50, "seven_day"),
        ((reading("5h", 1.0, None, Status.REJECTED),), 3, "five_hour"),
        ((reading("5h", 1.0, NOON - HOUR, Status.REJECTED),), 30, "seven_day"),
        ((), 5, "five_hour"),
        ((), 6, "seven_day"),
    ],
)
def test_the_claimed_window(readings: tuple[Reading, ...], hours: int, claim: str) -> None:
    """The claim is the window that keeps the account away; where that is not known, the distance tells."""
    assert unified(limited(barred(WORK, 13, NOON + hours * HOUR), *readings))["representative-claim"] == claim


def test_only_what_is_known_is_told() -> None:
    """A window that was counted anew is left out, and so is each part that nobody reported."""
    reply = limited(
        barred(WORK, 13, NOON + HOUR), reading("5h", 1.0, NOON, Status.REJECTED), reading("7d", None, NOON + 50 * HOUR)
    )
    assert set(unified(reply)) == {"status", "representative-claim", "reset", "7d-reset"}
    empty = limited(barred(WORK, 13, NOON + HOUR), reading("5h", 0.0, None))
    assert unified(empty)["5h-utilization"] == "0"


@pytest.mark.parametrize("first", [None, barred(WORK, 9)])
def test_a_recovery_that_nobody_knows(first: Barred | None) -> None:
    """Without a time there is no reset and no wait, but it is still a limit."""
    reply = limited(first)
    assert unified(reply) == {"status": "rejected", "representative-claim": "seven_day"}
    assert "retry-after" not in dict(reply.headers)
    assert message(reply).startswith("No account may serve now, and none said when it will")


@pytest.mark.parametrize(("seconds", "wait"), [(30, "30"), (59.2, "60"), (600, "60"), (-5, "1"), (None, "60")])
@pytest.mark.parametrize("row", [14, 17])
def test_what_is_soon_over_is_no_limit(row: int, seconds: float | None, wait: str) -> None:
    """An account that is throttled, or being renewed, makes the client wait a minute at most, and shows it no limit."""
    until = None if seconds is None else NOON + timedelta(seconds=seconds)
    reply = limited(barred(WORK, row, until), reading("5h", 0.2, NOON + HOUR))
    assert reply.status == 429
    assert unified(reply) == {}
    assert dict(reply.headers)["retry-after"] == wait


def test_a_reserve_is_told_with_what_spends_it() -> None:
    """Where it alone keeps the first from serving; of another's nothing is said."""
    reserved = barred(WORK, RESERVE_ROW, NOON + HOUR, "at its reserve: 5h 95% used, 10% kept for pins")
    assert message(limited(reserved)).endswith("kept for pins; run: flowpool reserve work --off")
    assert "run: " not in message(limited(barred(HOME, 13, NOON + HOUR), others=(reserved,)))


def test_a_wait_is_never_zero() -> None:
    """A recovery in the same moment still asks for a second."""
    assert dict(limited(barred(WORK, 13, NOON)).headers)["retry-after"] == "1"


def test_locked_out() -> None:
    """The answer names each enabled account, what was said of it, and the command that mends a refused credential."""
    spare = Account(id=AccountId("a3"), name="spare", provider="anthropic", kind=Kind.OAUTH, enabled=False)
    key = Account(id=AccountId("a4"), name="key", provider="anthropic", kind=Kind.API_KEY)
    accounts = ACCOUNTS | {spare.id: spare, key.id: key}
    choice = GiveUp(
        answer=Answer.LOCKED_OUT,
        because="all refused",
        barred=(
            barred(WORK, 18, None, "login refused: revoked"),
            barred(HOME, 19, None, "forbidden: Request not allowed"),
            barred(AccountId("a3"), None, None, "disabled"),
            barred(AccountId("a4"), 18, None, "revoked"),
            barred(AccountId("gone"), 18, None, "login refused"),
        ),
    )
    reply = gave_up(choice, accounts, (), NOON)
    assert reply.status == 502
    assert dict(reply.headers)["x-should-retry"] == "false"
    assert json.loads(reply.body)["error"]["type"] == "api_error"
    assert message(reply) == (
        "No account's credential is accepted: work: login refused: revoked; home: forbidden: Request not allowed; "
        "key: revoked; gone: login refused; "
        "run: flowpool login work, flowpool add key --replace, flowpool add gone --replace"
    )


def test_forbidden_everywhere() -> None:
    """Where the credentials are good, no new ones are asked for."""
    choice = GiveUp(answer=Answer.LOCKED_OUT, because="", barred=(barred(WORK, 19, None, "forbidden: no"),))
    assert message(gave_up(choice, ACCOUNTS, (), NOON)) == "No account's credential is accepted: work: forbidden: no"
    bare = GiveUp(answer=Answer.LOCKED_OUT, because="all refused")
    assert message(gave_up(bare, ACCOUNTS, (), NOON)) == "No account's credential is accepted: all refused"


def test_none_enabled() -> None:
    """The answer names the command that enables each account."""
    reply = gave_up(GiveUp(answer=Answer.NONE_ENABLED, because=""), ACCOUNTS, (), NOON)
    assert (reply.status, dict(reply.headers)["x-should-retry"]) == (503, "false")
    assert message(reply) == "No account is enabled: flowpool enable work, flowpool enable home"
    assert "flowpool enable NAME" in message(gave_up(GiveUp(answer=Answer.NONE_ENABLED, because=""), {}, (), NOON))


@pytest.mark.parametrize("answer", [Answer.RELAY, Answer.RELAY_EARLIER])
def test_an_answer_that_is_not_ours(answer: Answer) -> None:
    """To relay is the shell's work: asking us for it is a fault of ours."""
    with pytest.raises(ValueError, match="not one of ours"):
        gave_up(GiveUp(answer=answer, because=""), ACCOUNTS, (), NOON)
