"""What a refusal means for one account, in the words of docs/verdicts.md, and what a person can do about it."""

from providers.anthropic import minimal
from routing.mending import mending
from routing.verdicts import Verdict
from routing.words import Account

_PLAIN: dict[int, tuple[str, str]] = {  # row: what it means, and what to run, with the account's name in place of {}
    9: ("it was served as paid extra usage, which [routing] overage keeps clients from", "flowpool status"),
    10: ("this kind of request needs usage credits, and says nothing of the account", "flowpool test {}"),
    11: ("the account has no credits for it, or its limit of spending is reached", "flowpool status"),
    12: ("the limit of this model line is reached; other models may be served", "flowpool test {}"),
    13: ("the limit is reached", "flowpool status"),
    14: ("a throttle, which passes; the account has quota", "flowpool test {}"),
    15: ("a 429 that names no limit: the provider refuses this request rather than the account", "flowpool test {}"),
    19: ("the provider forbids this account this request", "flowpool doctor"),
    20: ("the balance, or the extra usage, is at its end", "flowpool status"),
    21: ("the provider has too much to do; the account is not to blame", "flowpool test {}"),
    22: ("the provider failed; the account is not to blame", "flowpool test {}"),
    23: ("the provider refuses the request itself; the account is not to blame", "flowpool test {}"),
}
LOGIN = "the provider does not accept the account's credential"
OTHER_MODEL = "; a subscription is asked for other models than Haiku only in Claude Code's own words"
LOGIN_ROW = 18


def explain(verdict: Verdict, account: Account, model: str) -> tuple[str, str]:
    """Return what the row means, and the command that mends it or asks again; model: what was asked for."""
    if verdict.row == LOGIN_ROW:
        return LOGIN, mending(account.kind, account.name)
    meaning, command = _PLAIN[verdict.row]
    may_be_the_model = verdict.row in (15, 23) and not minimal.is_fit(model)
    return meaning + (OTHER_MODEL if may_be_the_model else ""), command.format(account.name)
