"""The entry of `mitmdump -s addons/pool.py`: builds the parts and lists the addons, in the order in which a request meets them.

It defines nothing: mitmproxy loads it under a name of its own, so whatever it defined would exist twice.
"""

import os
import sys

try:
    from addons import options
    from addons.admit import Admit
    from addons.control import Control
    from addons.exchange import CLIENT
    from addons.limits import Limits
    from addons.replay import Replay
    from addons.requestlog import RequestLog
    from addons.route import Route
    from addons.sign import Signer
    from addons.status import status_of
    from credentials.backends import open_store
    from home import accounts, controlkey, settings
    from home.paths import Home
    from providers.anthropic import ANTHROPIC
    from routing.observations import AccountsChanged
    from routing.router import Router
    from routing.words import Account, Kind

    home = Home.find(os.environ).make()
    chosen = settings.load(home.config)
    known = accounts.load(home.accounts)
    store = open_store(chosen.credentials.backend, home.state_folder)
    stored = set(store.ids())
    options.ensure_modes(chosen)
    options.apply_defaults()
    print(f"flowpool: secrets are kept {store.describe()}", file=sys.stderr)

    client = Account(id=CLIENT, name=CLIENT, provider=ANTHROPIC.name, kind=Kind.OAUTH)
    pool = {account.id: account for account in known or (client,)}
    router = Router(chosen.rules)
    router.observe(AccountsChanged(accounts=tuple(pool.values())))
    signer = Signer(pool, {account.id: store.get(account.id) for account in known if account.id in stored})
    upstreams = options.upstreams(chosen)
    start = options.Options(home, chosen)

    addons = [
        start,
        Replay(signer),
        Admit(chosen, {upstreams[ANTHROPIC.name]: ANTHROPIC}),
        Control(controlkey.ensure(home.control_key), status_of(router, chosen, start.listening)),
        Limits(router),
        Route(router, pool, signer),
        RequestLog(pool),
    ]
except Exception as error:
    for line in str(error).splitlines() or [type(error).__name__]:
        print(f"flowpool: {line}", file=sys.stderr)
    raise SystemExit(2) from error
