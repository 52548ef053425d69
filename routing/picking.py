"""Which of the accounts that may serve does: the order of wish, habit, queue, ramp and free choice that routing/pins.py gives."""

from dataclasses import replace

from routing.candidates import free
from routing.decisions import Answer, Barred, Choice, GiveUp, Use, Wait
from routing.pins import Wish
from routing.question import Eligible, Question
from routing.queues import SOON, why_full
from routing.ramps import PAUSE
from routing.scoring import STRATEGIES, pick
from routing.verdicts import THROTTLE_ROW
from routing.words import AccountId

NOBODY: frozenset[AccountId] = frozenset()


def picked(question: Question, eligible: Eligible) -> Choice:
    """Choose among those who may serve, of whom there is at least one."""
    if question.demand.side:
        return _beside(question, eligible)
    taken = question.full(eligible)
    habit = _by_habit(question, eligible)
    wish = question.memory.pins.wish(question.demand, eligible, None if habit is None else habit.account)
    if wish.accounts:
        choice = _wished(question, wish, {i: eligible[i] for i in wish.accounts if i not in taken})
        if choice is not None:
            return choice
        wish = wish if wish.is_move else replace(wish, yields=wish.yields or wish.accounts)
    if habit is not None and habit.account not in taken:
        return _telling(question, habit, wish)
    warm = question.warm()
    if warm is not None and warm in taken and question.may_pause(PAUSE):
        return _queued(question, (warm,))
    return _telling(question, _freely(question, eligible, taken), wish)


def best(question: Question, among: Eligible) -> Use:
    """Let the strategy choose."""
    rules = question.rules.routing
    account, because = pick(free(question, among), STRATEGIES[rules.strategy], rules)
    return Use(account=account, because=because, is_free=True)


def _beside(question: Question, eligible: Eligible) -> Use:
    """Pick for a side call: where its session is pinned, the session's latest, else the best measured one, else any."""
    memory, demand = question.memory, question.demand
    wish = memory.pins.wish(demand, eligible, None)
    if wish.is_own:
        return Use(account=wish.accounts[0], because=wish.because)
    latest = memory.traffic.habits.latest(demand)
    if latest is not None and latest in eligible:
        return Use(account=latest, because="the session's latest")
    pinned = {i: eligible[i] for i in wish.accounts} or eligible
    shown = memory.meters.counting(demand.family)
    measured = {i: account for i, account in pinned.items() if shown[i]}
    return best(question, measured or pinned)


def _by_habit(question: Question, eligible: Eligible) -> Use | None:
    """Where the conversation already is: in flight with this model, warm, or in flight with another model."""
    demand, refused = question.demand, {attempt.account for attempt in question.trail.attempts}
    leases = [one for one in question.memory.traffic.leases.of(demand.conversation) if one.account not in refused]
    here = [(lease.account, "in flight here") for lease in leases if lease.model == demand.model]
    warm = question.warm()
    if warm is not None:
        here.append((warm, "sticky"))
    here += [(lease.account, "in flight here") for lease in leases]
    return next((Use(account=account, because=why) for account, why in here if account in eligible), None)


def _wished(question: Question, wish: Wish, room: Eligible) -> Use | Wait | None:
    """Choose among the pinned; None when none of them has room, and their turn is not waited for."""
    if not room:
        return _queued(question, wish.accounts) if wish.is_own and question.may_pause(PAUSE) else None
    if wish.is_move:
        room = _off_ramps(question, room)
        return replace(best(question, room), because=wish.because, is_move=True) if room else None
    choice = _freely(question, room, NOBODY, is_own=wish.is_own)
    if isinstance(choice, Use):
        return replace(choice, because=wish.because, is_free=choice.is_free and not wish.is_own)
    return choice if isinstance(choice, Wait) else None


def _freely(question: Question, eligible: Eligible, taken: frozenset[AccountId], *, is_own: bool = False) -> Choice:
    """Choose the best that has room; one that a refusal brings here comes by the ramp. is_own: a wish moves it, not a refusal."""
    room = {i: account for i, account in eligible.items() if i not in taken} if taken else eligible
    if not room:
        return _queued(question, tuple(eligible)) if question.may_pause(PAUSE) else _no_place(question, eligible)
    # moved by what it met itself, or by the hold of where its conversation lives
    if not (question.was_refused() or (not is_own and question.warm() is not None)):
        return best(question, room)
    off = _off_ramps(question, room)
    if not off and question.may_pause(PAUSE):
        because = "others are moving there just now"
        return Wait(until=question.now + PAUSE, account=None, because=because, is_for_room=True)
    return replace(best(question, off or room), is_move=True)


def _off_ramps(question: Question, eligible: Eligible) -> Eligible:
    ramps, now = question.memory.traffic.ramps, question.now
    return {i: account for i, account in eligible.items() if not ramps.is_full(i, now)}


def _queued(question: Question, accounts: tuple[AccountId, ...]) -> Wait:
    """Wait for a place on one of these accounts."""
    because = f"waits for a place on {', '.join(map(question.name, accounts))}"
    return Wait(until=question.now + PAUSE, account=None, because=because, is_for_room=True, queue=accounts)


def _no_place(question: Question, eligible: Eligible) -> GiveUp:
    """Send a client away that cannot wait for a place: it is told as a throttle is, for no limit was met."""
    leases = question.memory.traffic.leases
    why = {i: why_full(account, leases) for i, account in eligible.items()}
    barred = tuple(replace(b, because=why.get(b.account, b.because)) for b in question.dead().passed_over())
    account, because = next(iter(why.items()))
    recovers = Barred(account=account, because=because, row=THROTTLE_ROW, until=question.now + SOON)
    return GiveUp(answer=Answer.LIMITED, because=because, recovers=recovers, barred=barred)


def _telling(question: Question, choice: Choice, wish: Wish) -> Choice:
    """Say of a choice which pin yields to it, and why."""
    if not wish.yields or not isinstance(choice, Use):
        return choice
    why = ", ".join(_yielding(question, account) for account in wish.yields)
    return replace(choice, because=f"pin yields: {why}; {choice.because}")


def _yielding(question: Question, account: AccountId) -> str:
    name, known = question.name(account), question.memory.accounts.get(account)
    met = next((attempt for attempt in reversed(question.trail.attempts) if attempt.account == account), None)
    if met is not None:
        return f"{name} was refused ({met.verdict.because})"
    barred = known and question.is_barred(known)
    if barred:
        return f"{name} has no room ({barred})"
    if known and account in question.full({account: known}):
        return f"{name} has no room ({why_full(known, question.memory.traffic.leases)})"
    return f"{name} until this conversation is cold"
