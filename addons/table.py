"""Table: who implements which hook, found once instead of for every event, and run without a detour through the event loop.

For each hook mitmproxy asks each of its some 33 addons whether it has a method of that name, and again for the `update` that
follows every hook of a flow. The manager here remembers the answer until addons or options change. It takes the place of
mitmproxy's by `__class__`; tests/addons/test_table.py pins what it uses, and plays both managers against each other.

For each blocking hook mitmproxy makes a task, which then queues for the connection's lock: two rounds of the event loop. Hooks that
only flowpool and mitmproxy implement, none of them asynchronous, are run on the spot (`ran`).
"""

import asyncio
import gc
import inspect
from dataclasses import dataclass
from typing import Any, cast, override

from mitmproxy import ctx, exceptions, flow, hooks
from mitmproxy.addonmanager import AddonManager, safecall
from mitmproxy.log import AddLogHook

KNOWN = ("addons.", "mitmproxy.")
"""Where addons come from whose hooks are known to return nothing to wait for, unless they are declared as coroutines."""
_UPDATED = hooks.UpdateHook([])


@dataclass(frozen=True, slots=True)
class Implementors:
    """Who is to be called, in order: a group for each addon of the chain, with its children, for a fault ends its group.

    are_prompt: whether none of them can want to be awaited.
    """

    groups: tuple[tuple[Any, ...], ...]
    are_prompt: bool


class TabledAddons(AddonManager):
    """mitmproxy's manager with a table."""

    table: dict[str, Implementors]
    finished: set[hooks.Hook]
    """Hooks that were run already, of flows that were intercepted meanwhile: mitmproxy is only to wait for their release."""

    @classmethod
    def take_over(cls, addons: AddonManager) -> None:
        """Turn mitmproxy's manager into this one."""
        if type(addons) is AddonManager:
            addons.__class__ = cls
            tabled = cast(TabledAddons, addons)
            tabled.table, tabled.finished = {}, set()

    def implementors(self, event: hooks.Hook) -> Implementors:
        """Who is to be called; raises AddonManagerError as mitmproxy does for a hook that is no function."""
        found = self.table.get(event.name)
        if found is None:
            groups = [tuple(addon for addon, _ in self._iter_hooks(top, event)) for top in self.chain]
            are_prompt = all(_is_prompt(addon, event.name) for group in groups for addon in group)
            found = self.table[event.name] = Implementors(tuple(filter(None, groups)), are_prompt)
        return found

    def ran(self, event: hooks.Hook) -> bool:
        """Run a flow's hook, and its update, on the spot; False when mitmproxy has to do it, or what is left of it."""
        try:
            told, updated = self.implementors(event), self.implementors(_UPDATED)
        except exceptions.AddonManagerError:
            return False
        (message,) = event.args()
        if not (told.are_prompt and updated.are_prompt and isinstance(message, flow.Flow)):
            return False
        _call(told, event.name, message)
        _call(updated, _UPDATED.name, [message])
        if message.intercepted:
            self.finished.add(event)
        return not message.intercepted

    @override
    def register(self, addon: Any) -> Any:
        self.table.clear()
        try:
            return super().register(addon)  # type: ignore[no-untyped-call]
        finally:
            self.table.clear()

    @override
    def add(self, *addons: Any) -> None:
        super().add(*addons)  # type: ignore[no-untyped-call]
        self.table.clear()

    @override
    def remove(self, addon: Any) -> None:
        super().remove(addon)  # type: ignore[no-untyped-call]
        self.table.clear()

    @override
    def clear(self) -> None:
        super().clear()  # type: ignore[no-untyped-call]
        self.table.clear()

    @override
    async def trigger_event(self, event: hooks.Hook) -> None:
        try:
            groups = self.implementors(event).groups
        except exceptions.AddonManagerError:  # mitmproxy says which addon it is, and calls the others
            await super().trigger_event(event)
            return
        if not groups:
            return
        args = event.args()
        for group in groups:
            try:
                for addon in group:
                    result = getattr(addon, event.name)(*args)
                    if result is not None and inspect.isawaitable(result):
                        await result
            except exceptions.AddonHalt:
                return
            except Exception:
                with safecall():
                    raise

    @override
    async def handle_lifecycle(self, event: hooks.Hook) -> None:
        if event in self.finished:
            self.finished.discard(event)
            return
        await self.trigger_event(event)
        message = event.args()[0]
        if isinstance(message, flow.Flow):
            await self.trigger_event(hooks.UpdateHook([message]))

    @override
    def trigger(self, event: hooks.Hook) -> None:
        if event.name != AddLogHook.name:
            self.table.clear()  # the options changed: an addon may have got, or lost, a hook
        elif not self.implementors(event).groups:
            return
        super().trigger(event)


def _is_prompt(addon: Any, name: str) -> bool:
    return type(addon).__module__.startswith(KNOWN) and not inspect.iscoroutinefunction(getattr(addon, name))


def _call(told: Implementors, name: str, message: object) -> None:
    for group in told.groups:
        try:
            for addon in group:
                getattr(addon, name)(message)
        except exceptions.AddonHalt:
            return
        except Exception:
            with safecall():
                raise


class Table:
    """Puts the table in the manager's place once everything has started."""

    name = "flowpool_table"

    def running(self) -> None:
        """Take over, and freeze when the other addons have started, too."""
        TabledAddons.take_over(ctx.master.addons)
        asyncio.get_running_loop().call_soon(settle)


def settle() -> None:
    """Collect what the start left, and take what stays out of the collector's sight.

    The thresholds stay the defaults: raised ones were measured to pause the proxy for 25 to 35 ms.
    """
    gc.collect()
    gc.freeze()
