"""Calls that block, beside the event loop, in threads that do not keep the proxy from ending."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress


async def aside[T](call: Callable[[], T]) -> T:
    """Return what a call returns, or raise what it raises. asyncio's own threads are waited for when the loop ends; this is not."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if done.cancelled():
            return
        if error is None:
            done.set_result(result)  # type: ignore[arg-type]
        else:
            done.set_exception(error)

    def work() -> None:
        try:
            result, error = call(), None
        except BaseException as raised:  # noqa: BLE001  # it is raised again where it is waited for
            result, error = None, raised
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=work, name="flowpool aside", daemon=True).start()
    return await done
