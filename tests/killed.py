"""A child that is killed right before its n-th call that touches the disk, as a power cut or kill -9 would end it."""

import os
import signal
import traceback
from collections.abc import Callable
from typing import Any

CALLS = ("open", "write", "fsync", "fchmod", "fchown", "replace", "rename", "link", "unlink", "mkdir", "rmdir")


def killed_at(step: int, work: Callable[[], object]) -> bool:
    """Do the work in a child; True when that was killed before its step-th call, False when it came to its end before."""
    child = os.fork()
    if child == 0:
        _run(step, work)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL), "the work failed by itself"
    return code != 0


def _run(step: int, work: Callable[[], object]) -> None:
    left = step

    def counting(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            nonlocal left
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **more)

        return call

    try:
        for name in CALLS:
            setattr(os, name, counting(getattr(os, name)))
        work()
        os._exit(0)
    except BaseException:  # noqa: BLE001  # whatever it is, the parent must hear of it
        traceback.print_exc()
    finally:
        os._exit(1)
