"""Attempts as flows: every attempt but the last becomes a flow of its own, for mitmweb and for files of flows."""

from collections.abc import Mapping

from mitmproxy import ctx, flow, http

from routing.decisions import Use, Wait
from routing.trail import Attempt
from routing.words import Account, AccountId

MARK = ":arrows_counterclockwise:"


def are_inspected() -> bool:
    """Whether somebody looks at flows: a window that shows them, or a file that they are written to."""
    return ctx.master.addons.get("view") is not None or bool(getattr(ctx.options, "save_stream_file", None))


def keep(
    exchange_flow: http.HTTPFlow, attempt: Attempt, choice: Use | Wait, accounts: Mapping[AccountId, Account]
) -> None:
    """Keep the attempt that has just been refused, marked and told in a few words, beside the flow that goes on."""
    if not are_inspected():
        return
    kept = exchange_flow.copy()
    kept.live = False
    kept.marked = MARK
    kept.comment = story(attempt, choice, accounts)
    if kept.response is None:
        kept.error = flow.Error(attempt.verdict.because)
    if (view := ctx.master.addons.get("view")) is not None:
        view.add([kept])
    if (save := ctx.master.addons.get("save")) is not None and save.stream:
        save.save_flow(kept)


def story(attempt: Attempt, choice: Use | Wait, accounts: Mapping[AccountId, Account]) -> str:
    """What happened to an attempt, and what came next: "refused on work: 7d limit until Thu 09:00; went to home"."""

    def name(account: AccountId) -> str:
        return accounts[account].name if account in accounts else account

    refused = f"refused on {name(attempt.account)}: {attempt.verdict.because}"
    match choice:
        case Use(account=account) if account == attempt.account:
            return f"{refused}; sent again"
        case Use(account=account):
            return f"{refused}; went to {name(account)}"
        case Wait(until=until):
            return f"{refused}; waits until {until:%H:%M:%S} UTC"
