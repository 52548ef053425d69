"""Programs that a test ends with Ctrl-C."""

import signal


def hears_ctrl_c() -> None:
    """Run in a child before its program: a suite that was started in the background hands down an ignored SIGINT."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
