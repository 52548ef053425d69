"""Follow: keeps a terminal's foreground while the process that took over serves, for the shell waits for the one that it started.

Run as a program, with the process id of its child: by then all that this process was has been given up, so it is small.
"""

import os
import signal
import sys


def is_at_terminal() -> bool:
    """Whether a person sits before this process."""
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


def become(pid: int) -> None:
    """Follow a child; does not return."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, "-I", "-S", __file__, str(pid)])  # noqa: S606  # no shell, our own interpreter


def follow(pid: int) -> int:
    """Wait for a child, pass on what ends it, and return how it ended. What comes from the terminal reaches it without us."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it gets them from the terminal itself, and a second one means at once
    signal.signal(signal.SIGTERM, lambda number, _frame: os.kill(pid, number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))  # who became this was deaf at its end
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return code if code >= 0 else 128 - code  # as a shell says it


if __name__ == "__main__":
    sys.exit(follow(int(sys.argv[1])))
