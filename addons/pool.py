"""The entry of `mitmdump -s addons/pool.py`: builds the parts and lists the addons, in the order in which a request meets them.

It defines nothing: mitmproxy loads it under a name of its own, so whatever it defined would exist twice.
"""

import os
import sys
from functools import partial

try:
    from addons import options, redact
    from home import settings
    from home.paths import Home

    redact.install()
    home = Home.find(os.environ).make()
    chosen = settings.load(home.config)
    options.refuse_second(home)
    options.ensure_modes(chosen)  # may start mitmproxy again, so what takes long to load comes after it
    options.apply_defaults()

    from addons.accounts import Accounts, readable
    from addons.admit import Admit
    from addons.alarm import Alarm
    from addons.control import Control
    from addons.decisions import Decisions
    from addons.limits import Limits
    from addons.logfile import LogFile
    from addons.measure import Measure
    from addons.prime import Prime, schedule_of
    from addons.probe import Probe
    from addons.recent import Recent
    from addons.recheck import Recheck
    from addons.remember import Remember
    from addons.renew import Renew, renewal_command
    from addons.replay import Replay, wake_paused
    from addons.requestlog import RequestLog
    from addons.route import Route
    from addons.sign import Signer
    from addons.status import status_of
    from addons.table import Table
    from credentials.backends import open_store
    from home import accounts, controlkey
    from home.state import reader
    from home.state.state import State
    from providers.known import KNOWN
    from routing.router import Router

    known = accounts.load(home.accounts)
    store = open_store(
        chosen.credentials.backend, home.state_folder, lambda: [one.id for one in accounts.load(home.accounts)]
    )
    log = LogFile(home.log, chosen.log.level)
    log.say(f"flowpool: secrets are kept {store.describe()}")

    router = Router(chosen.rules)
    pool = Accounts(known, readable(store, known), router=router, path=home.accounts, store=store, wake=wake_paused)
    renew = Renew(pool, router, renewal_command(home.accounts, store), wake_paused)
    measure = Measure(pool, router, chosen.providers.anthropic.upstream, wake_paused)
    probe = Probe(measure, chosen.probe)
    prime = Prime(measure, schedule_of(chosen.prime))
    alarm = Alarm(router, [one.name for one in KNOWN])
    recent = Recent()
    remember = Remember(router, State(home.state))
    decisions = Decisions(pool.ever, remember.told)
    signer = Signer(pool.members, pool.credentials)
    upstreams = options.upstreams(chosen)
    start = options.Options(home, chosen, log.say)

    addons = [
        start,
        Replay(signer),
        Admit(chosen, {upstreams[one.name]: one for one in KNOWN}),
        pool,
        Control(
            controlkey.ensure(home.control_key),
            status_of(router, chosen, start.listening, probe.told, prime.told),
            pool,
            recent,
            lambda: alarm.notices,
            find=decisions.find,
            sessions=decisions.sessions,
            conversations=partial(reader.conversations_like, home.state),
        ),
        Limits(router),
        Route(router, pool.members, renew),
        RequestLog(pool.ever, recent.add, remember.ended, measure.ended, tell=decisions.ended),
        remember,
        renew,
        Recheck(pool, router, chosen.providers.anthropic.upstream, wake_paused),
        probe,
        prime,
        alarm,
        log,  # after those who have a last word
        Table(),
    ]
except Exception as error:
    for line in str(error).splitlines() or [type(error).__name__]:
        print(f"flowpool: {line}", file=sys.stderr)
    raise SystemExit(2) from error
