"""A launch that does not go through the pool: the vendor itself is asked, with an account's own secret where one is named."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from credentials.backends import open_store
from credentials.credential import API_KEY, OAUTH
from credentials.errors import CredentialError
from flowpool import names
from flowpool.errors import Failure
from flowpool.launch import environment, overruling, precedence
from flowpool.launch.environment import Prepared
from flowpool.launch.launching import Launch
from flowpool.launch.precedence import HELPER, Seen
from home import accounts as book
from home import running
from home.checks import Address
from home.paths import Home
from home.settings import Settings

BASE = environment.BASE


def prepared(home: Home, chosen: Settings, launch: Launch, now: datetime) -> tuple[Prepared, tuple[str, ...]]:
    """Return the environment and the arguments, nothing of ours in them. Raises Failure where an account has no secret that serves."""
    seen = precedence.look(launch.arguments, launch.environ, Path())
    if launch.account:
        return _on_account(home, chosen, launch, seen, now)
    listen = _listen(home, chosen)
    ready, values = precedence.ready(seen, launch.environ, lambda environ: _plain(environ, listen))
    passed = overruling.overruled(home, seen, values, launch.arguments)
    return replace(ready, notes=(*ready.notes, *overruling.told(seen, values))), passed


def _on_account(
    home: Home, chosen: Settings, launch: Launch, seen: Seen, now: datetime
) -> tuple[Prepared, tuple[str, ...]]:
    """Whatever settings say, and wherever they are, the secret is for the vendor alone."""
    listen, name = _listen(home, chosen), launch.account
    ready, values = precedence.ready(seen, launch.environ, lambda environ: _bare(environ, listen, name))
    shown, note = _secret(home, chosen, name, now)
    for variable in (BASE, *shown):
        if variable in seen.managed or (variable in shown and seen.env.get(variable)):
            raise Failure(
                f"{seen.where[variable]} sets {variable}, which goes before the secret of {name} or would lead it elsewhere; "
                f"take it out, then run: flowpool run --direct --account {name}"
            )
    helped = [f"{HELPER} is set, and not asked: it would go before the secret of {name}"] if seen.helper else []
    over = {name: value for name, value in ({BASE: ""} | values).items() if name not in shown}
    passed = overruling.overruled(home, seen, over, launch.arguments, asks_helper=False)
    notes = (*ready.notes, *helped, *overruling.told(seen, over), *([note] if note else []))
    return Prepared(values={**ready.values, **shown}, notes=notes), passed


def _plain(variables: Mapping[str, str], listen: Sequence[Address]) -> Prepared:
    return Prepared(values=environment.without_pool(variables, listen))


def _bare(variables: Mapping[str, str], listen: Sequence[Address], name: str) -> Prepared:
    """Leave out all that would lead Claude Code to another credential, or to another address."""
    values, notes = environment.without_keys(environment.without_pool(variables, listen))
    if values.pop(BASE, ""):
        notes += (f"{BASE} is set, and not passed on: whoever is there would get the secret of {name}",)
    return Prepared(values=values, notes=notes)


def _listen(home: Home, chosen: Settings) -> list[Address]:
    """Where the pool is asked."""
    proxy = running.read(home.running)
    set_here = [chosen.listen.claude, *([chosen.listen.forward] if chosen.listen.forward else [])]
    return [*set_here, *(proxy.listen.values() if proxy else ())]


def _secret(home: Home, chosen: Settings, name: str, now: datetime) -> tuple[dict[str, str], str]:
    """Return the variable that has the account's secret, and what a person should know of it. Raises Failure, CredentialError."""
    known = book.load(home.accounts)
    (account,) = names.find(known, [name])
    store = open_store(chosen.credentials.backend, home.state_folder, lambda: [one.id for one in known])
    try:
        credential = store.get(account.id)
    except CredentialError as error:
        raise error.naming(account.name) from None
    if credential.kind == API_KEY:
        return {environment.API_KEY: credential.access.reveal()}, ""
    note = ""
    if credential.kind == OAUTH and credential.expires_at is not None:
        if credential.expires_at <= now:
            raise Failure(f"the access token of {name} has ended; run: flowpool refresh {name}")
        ends = f"{credential.expires_at.astimezone():%a %H:%M}"
        note = f"this session ends when the access token of {name} does, {ends}: nobody renews it there"
    return {environment.TOKEN: credential.access.reveal()}, note
