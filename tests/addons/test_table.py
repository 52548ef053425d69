"""Table: pins what it uses of mitmproxy, and plays its manager against mitmproxy's own."""

import asyncio
import gc
import inspect
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mitmproxy import exceptions, http, master, options
from mitmproxy.addonmanager import AddonManager, safecall
from mitmproxy.hooks import Hook, UpdateHook
from mitmproxy.proxy.layers.http._hooks import HttpRequestHook, HttpResponseHook
from mitmproxy.test import tflow

from addons.table import Table, TabledAddons, settle

METHODS = {
    "register": ["addon"],
    "add": ["addons"],
    "remove": ["addon"],
    "clear": [],
    "trigger_event": ["event"],
    "handle_lifecycle": ["event"],
    "trigger": ["event"],
    "_iter_hooks": ["addon", "event"],
}


@pytest.mark.parametrize(("name", "wanted"), METHODS.items())
def test_a_method_of_the_manager_is_as_it_was(name: str, wanted: list[str]) -> None:
    """What the table extends, mitmproxy still has, and calls as it did."""
    takes = list(inspect.signature(getattr(AddonManager, name)).parameters)[1:]

    assert takes == wanted, f"mitmproxy changed AddonManager.{name}, which addons/table.py extends"


def test_what_else_is_used_is_as_it_was() -> None:
    """A manager may change its class, an update names its flows, a fault is caught by safecall."""
    assert not hasattr(AddonManager, "__slots__")
    assert UpdateHook.name == "update"
    assert inspect.signature(UpdateHook).parameters.keys() == {"flows"}
    with safecall():
        raise ValueError("caught")


class Base:
    """An addon that writes down what it is called with. acts: what it does then."""

    def __init__(self, name: str, calls: list[str], acts: str) -> None:
        self.name, self.calls, self.acts = name, calls, acts

    def note(self, hook: str) -> None:
        """Write down the call, and act."""
        self.calls.append(f"{self.name}.{hook}")
        if self.acts == "raise":
            raise ValueError("meant to fail")
        if self.acts == "halt":
            raise exceptions.AddonHalt


class Plain(Base):
    def request(self, flow: http.HTTPFlow) -> None:
        self.note("request")
        if self.acts == "intercept":
            flow.intercept()

    def update(self, flows: list[http.HTTPFlow]) -> None:
        assert len(flows) == 1
        self.note("update")


class Waiting(Base):
    async def request(self, _flow: http.HTTPFlow) -> None:
        await asyncio.sleep(0)
        self.note("request")

    def response(self, _flow: http.HTTPFlow) -> None:
        self.note("response")


class Parent(Plain):
    def __init__(self, name: str, calls: list[str], acts: str) -> None:
        super().__init__(name, calls, acts)
        self.addons = [Plain(f"{name}-child", calls, "")]


class Odd(Base):
    request = "no function"


def _known(kind: type[Base]) -> type[Base]:
    """The same class, as if it came with flowpool."""
    return type(kind.__name__, (kind,), {"__module__": "addons.made_for_a_test"})


Ours = _known(Plain)
OursWaiting = _known(Waiting)

kinds = st.sampled_from([Plain, Waiting, Parent, Odd, Ours, OursWaiting])
acts = st.sampled_from(["", "", "raise", "halt"])
EVENTS = (HttpRequestHook, HttpResponseHook)


@pytest.fixture(scope="module", autouse=True)
def _quiet() -> Iterator[None]:
    """The faults are meant."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def played(members: list[tuple[type[Base], str]], *, tabled: bool, at_once: bool = False) -> list[str]:
    """The calls that two flows' hooks make."""
    calls: list[str] = []

    async def play() -> None:
        made = master.Master(options.Options())
        addons: Any = made.addons
        for number, (kind, act) in enumerate(members):
            addons.add(kind(f"a{number}", calls, act))
        if tabled:
            TabledAddons.take_over(addons)
        for event in EVENTS * 2:
            hook = event(tflow.tflow())
            if not (at_once and addons.ran(hook)):
                await addons.handle_lifecycle(hook)

    asyncio.run(play())
    return calls


@given(st.lists(st.tuples(kinds, acts), max_size=5))
def test_both_managers_make_the_same_calls(members: list[tuple[type[Base], str]]) -> None:
    """Whoever implements what, and whatever goes wrong in it, run by mitmproxy or on the spot."""
    wanted = played(members, tabled=False)

    assert played(members, tabled=True) == wanted
    assert played(members, tabled=True, at_once=True) == wanted


def manager(*members: Base) -> TabledAddons:
    """A manager with a table and these addons."""
    addons = master.Master(options.Options(), event_loop=asyncio.get_running_loop()).addons
    addons.add(*members)
    TabledAddons.take_over(addons)
    assert isinstance(addons, TabledAddons)
    return addons


@pytest.mark.parametrize(
    ("kind", "prompt"), [(Ours, True), (OursWaiting, False), (Plain, False)], ids=["ours", "coroutine", "a user's"]
)
def test_only_what_cannot_wait_is_run_on_the_spot(kind: type[Base], prompt: bool) -> None:
    """A coroutine, and whatever else a user's addon may return, is awaited by mitmproxy."""
    calls: list[str] = []

    async def play() -> bool:
        return manager(kind("one", calls, "")).ran(HttpRequestHook(tflow.tflow()))

    assert asyncio.run(play()) is prompt
    assert bool(calls) is prompt


def test_an_intercepted_flow_is_waited_for_and_its_hook_not_run_again() -> None:
    """It goes to mitmproxy all the same, which then waits for the release."""
    calls: list[str] = []

    async def play() -> None:
        addons = manager(Ours("one", calls, "intercept"))
        hook = HttpRequestHook(tflow.tflow())
        assert not addons.ran(hook)
        assert hook.flow.intercepted
        before = list(calls)
        await addons.handle_lifecycle(hook)
        assert calls == before == ["one.request", "one.update"]
        assert not addons.finished

    asyncio.run(play())


def test_the_table_follows_the_addons_and_the_options() -> None:
    """Who is added later is called, who is removed is not; an option may change who implements what."""
    calls: list[str] = []

    async def play() -> None:
        one, two = Ours("one", calls, ""), Ours("two", calls, "")
        addons: Any = manager(one)
        hook: Hook = HttpRequestHook(tflow.tflow())
        await addons.trigger_event(hook)
        addons.add(two)
        await addons.trigger_event(hook)
        addons.remove(one)
        await addons.trigger_event(hook)
        two.request = lambda _flow: calls.append("changed")  # type: ignore[attr-defined]
        addons.master.options.update(http2=False)
        await addons.trigger_event(hook)
        addons.clear()
        await addons.trigger_event(hook)

    asyncio.run(play())
    assert calls == ["one.request", "one.request", "two.request", "two.request", "changed"]


def test_it_takes_over_when_all_is_running() -> None:
    """And freezes what the start left once the others have started too."""
    before = gc.get_freeze_count()

    async def play() -> None:
        made = master.Master(options.Options(), event_loop=asyncio.get_running_loop())
        made.addons.add(Table())
        await made.running()
        assert type(made.addons) is TabledAddons
        await asyncio.sleep(0)

    try:
        asyncio.run(play())
        assert gc.get_freeze_count() > before
        settle()
    finally:
        gc.unfreeze()
