"""The entry of `mitmdump -s addons/pool.py`: builds the parts and lists the addons, in the order in which a request meets them.

It defines nothing: mitmproxy loads it under a name of its own, so whatever it defined would exist twice.
"""

import os
import sys
from functools import partial

try:
    from addons import options, predecessors, redact, refusing
    from home import settings
    from home.paths import Home

    redact.install()
    home = Home.find(os.environ).make()
    chosen = options.chosen(home)
    refusing.refuse_second(home)
    options.ensure_modes(chosen)  # may start mitmproxy again, so what takes long to load comes after it
    options.apply_defaults()

    from addons import way

    way.trust(home, chosen)

    from addons.accounts import Accounts, readable
    from addons.admit import Admit
    from addons.alarm import Alarm
    from addons.bodies import Bodies
    from addons.catchup import CatchUp
    from addons.control import Control
    from addons.decisions import Decisions
    from addons.forward import Forward
    from addons.lasting import Lasting
    from addons.life import Life
    from addons.limits import Limits
    from addons.logfile import LogFile
    from addons.measure import Measure
    from addons.pauses import wake_paused, woke
    from addons.prime import Prime, schedule_of
    from addons.probe import Probe
    from addons.recent import Recent
    from addons.recheck import Recheck
    from addons.reconfigure import Reconfigure
    from addons.remember import Remember
    from addons.renew import Renew, renewal_command
    from addons.replacing import Replay
    from addons.requestlog import RequestLog
    from addons.route import Route
    from addons.sign import Signer
    from addons.status import status_of
    from addons.table import Table
    from addons.wake import Wake
    from credentials.backends import open_store
    from home import accounts, controlkey, outbound
    from home.state import reader
    from home.state import state as kept
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
    out = outbound.way(chosen.outbound)
    measure = Measure(pool, router, chosen.providers.anthropic.upstream, wake_paused, way=out)
    probe = Probe(measure, chosen.probe)
    prime = Prime(measure, schedule_of(chosen.prime))
    alarm = Alarm(router, [one.name for one in KNOWN])
    recent = Recent()
    remember = Remember(router, State(home.state))
    decisions = Decisions(pool.ever, remember.told)
    signer = Signer(pool.members, pool.credentials)
    upstreams = options.upstreams(chosen)
    asked = {upstreams[one.name]: one for one in KNOWN}
    forward = Forward(chosen.listen.forward, asked, out)
    start = options.Options(home, chosen, log.say)
    control_key = controlkey.ensure(home.control_key)
    keys = (controlkey.ensure(home.client_key), control_key) if chosen.admit.key else ()

    route = Route(router, pool.members, renew)
    recheck = Recheck(pool, router, chosen.providers.anthropic.upstream, wake_paused, way=out)
    duties = (renew.rest, recheck.done, probe.done, prime.done, alarm.done)
    life = Life(
        chosen.limits,
        turn_away=route.turn_away,
        rest=duties,
        flush=remember.flush,
        check=partial(settings.load, home.config),
        again=start.again,
        before=predecessors.known(),
    )
    bodies = [Bodies(chosen.log, pool.ever, pool.credentials)] if chosen.log.bodies else []
    reconfigure = Reconfigure(home.config, chosen, life, start.taken_up)

    addons = [
        start,
        Replay(signer, out),
        Admit(chosen, asked, keys, forward),
        forward,
        Lasting(),
        pool,
        Control(
            control_key,
            status_of(router, chosen, start.listening, probe.told, prime.told),
            pool,
            recent,
            lambda: (*alarm.notices, *reconfigure.notices),
            life=life,
            find=decisions.find,
            sessions=decisions.sessions,
            conversations=partial(reader.conversations_like, home.state),
        ),
        Limits(router),
        *bodies,  # before those who judge an attempt and end an exchange
        route,
        RequestLog(
            pool.ever, recent.add, remember.ended, measure.ended, tell=[decisions.ended, *(one.ended for one in bodies)]
        ),
        remember,
        renew,
        recheck,
        probe,
        prime,
        alarm,
        CatchUp(router, remember, predecessors.known(), partial(kept.load, home.state)),
        reconfigure,
        life,
        Wake(woke),
        log,  # after those who have a last word
        Table(),
    ]
except Exception as error:
    for line in str(error).splitlines() or [type(error).__name__]:
        print(f"flowpool: {line}", file=sys.stderr)
    raise SystemExit(2) from error
