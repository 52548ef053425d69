"""What an exchange does next: a choice afresh, or what the refusal that it met allows."""

from dataclasses import replace
from datetime import timedelta

from routing.chains import Again, Onward, next_step
from routing.decisions import Answer, Choice, GiveUp, Use, Wait
from routing.outcomes import outcome
from routing.picking import picked
from routing.question import Question
from routing.retest import candidate, is_due
from routing.trail import Attempt
from routing.verdicts import PAID_ROW, Left

CLOCK_STEP = timedelta(minutes=1)  # now went back further than this: a pause is not made longer by it


def chosen(question: Question) -> Choice:
    """Choose for an exchange, given what it met so far."""
    last = question.trail.last
    if last is None or not last.verdict.is_refusal:
        return _afresh(question)
    step = next_step(question.trail, question.demand, question.rules)
    if isinstance(step, Again):
        return _again(question, step, last)
    if step is Onward.HOP:
        return _hop(question, f"refused: {last.verdict.because}", last)
    return _stop(question, last)


def _afresh(question: Question) -> Choice:
    eligible = question.eligible()
    if eligible:
        return picked(question, eligible)
    return _retest(question) or outcome(question.dead())


def _retest(question: Question) -> Use | None:
    """Let one request a minute see whether an old hold still stands."""
    memory, demand, now = question.memory, question.demand, question.now
    every = timedelta(seconds=question.rules.hold.retest_s)
    if demand.side or not is_due(memory.held.retested.get(demand.provider), every, now):
        return None
    taken = question.full(memory.accounts)
    accounts = (account for i, account in memory.accounts.items() if i not in taken)
    account = candidate(accounts, question.holds(), demand, now)
    return None if account is None else Use(account=account, because="to see whether its hold still stands")


def _again(question: Question, step: Again, last: Attempt) -> Choice:
    account, now = question.memory.accounts.get(step.account), question.now
    if account is None:
        return _hop(question, "was removed", last)
    barred = question.is_barred(account)
    if barred:
        return _hop(question, f"may no longer serve: {barred}", last)
    if question.trail.has_waited_for_room and (now < step.at or question.full({account.id: account})):
        return _hop(question, f"refused: {last.verdict.because}", last)
    because = f"again: {last.verdict.because}"
    if not step.wait or now >= step.at or step.at - now > step.wait + CLOCK_STEP:
        return Use(account=account.id, because=because)
    return Wait(until=step.at, account=account.id, because=because)


def _hop(question: Question, why: str, last: Attempt) -> Choice:
    eligible = question.untried()
    if not eligible:
        return _stop(question, last)
    choice = picked(question, eligible)
    if isinstance(choice, Wait):
        return choice
    if isinstance(choice, GiveUp):
        return _stop(question, last) if last.verdict.left is Left.RELAY else choice
    of = "pin yields" if last.account in question.memory.pins.spent(question.demand) else "hop"
    return replace(choice, because=f"{of}: {question.name(last.account)} {why}")


def _stop(question: Question, last: Attempt) -> Choice:
    """Nobody else may be asked: the last answer, or one of our own. What was paid for already is not held back while it is there."""
    dead = question.dead()
    is_paid = last.verdict.as_row == PAID_ROW and not question.trail.has_waited_for_room
    if last.verdict.left is Left.RELAY or is_paid:
        return GiveUp(answer=Answer.RELAY, because=last.verdict.because, barred=dead.passed_over())
    return outcome(dead)
