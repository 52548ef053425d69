"""Lean: a mitmproxy master with only what a reverse proxy needs, and the same addons as mitmdump loads."""

import asyncio
import logging
import signal
import sys

from mitmproxy import master
from mitmproxy.addons import core, disable_h2c, errorcheck, next_layer, proxyserver, tlsconfig
from mitmproxy.options import Options

from addons.options import StartError, mode_of, refuse_second, refuse_taken
from home.paths import Home
from home.settings import Settings

QUIET = ("asyncio", "hpack", "quic")
"""Loggers that speak below warnings of nothing that concerns a reader of the log."""


def run(home: Home, settings: Settings) -> None:
    """Serve until a signal says stop; SystemExit when it cannot start."""
    try:
        refuse_second(home)
        refuse_taken(settings.listen.claude)
    except StartError as e:
        print(f"flowpool: {e}", file=sys.stderr)  # noqa: T201 - before there is a log
        raise SystemExit(2) from e
    asyncio.run(_serve(home, settings))


async def _serve(home: Home, settings: Settings) -> None:
    logging.getLogger().setLevel(logging.INFO)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    options = Options()
    lean = master.Master(options, with_termlog=True)
    options.update(confdir=str(home.state_folder / "mitmproxy"))
    # As in mitmdump, what chooses layers comes first: the proxyserver warns when it gets its mode and nobody does.
    lean.addons.add(core.Core(), disable_h2c.DisableH2C(), next_layer.NextLayer(), proxyserver.Proxyserver())
    options.update(mode=[mode_of(settings, settings.listen.claude)])
    from addons import pool  # noqa: PLC0415 - it is built when it is loaded, for the master that is there by then

    lean.addons.add(*pool.addons, tlsconfig.TlsConfig(), errorcheck.ErrorCheck())
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, lean.shutdown)
    await lean.run()
