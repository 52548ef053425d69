"""The guard: a hook that raises makes an answer of ours, and nothing is sent."""

import asyncio
import inspect
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mitmproxy import http

from addons.admit import Admit
from addons.control import Control
from addons.exchange import EXCHANGES, Relay, Send
from addons.guard import fail_closed, fault_response
from addons.limits import Limits
from addons.requestlog import RequestLog
from addons.route import Route
from tests.addons.made import error_of, flow, known

FLOW_HOOKS = ("requestheaders", "request", "responseheaders", "response", "error", "http_connect", "flowpool_attempt")


class Odd(Exception):  # noqa: N818
    """Somebody's own exception, which cannot even be printed."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


FAULTS = [ValueError("x"), AssertionError(), KeyError("y"), StopIteration(), RecursionError(), MemoryError(), Odd()]
faults = st.sampled_from(FAULTS)


class Addon:
    """Two hooks that do what they are told."""

    def __init__(self, fault: BaseException | None) -> None:
        self.fault = fault

    @fail_closed
    def plain(self, flow: http.HTTPFlow) -> None:
        """A hook that is called."""
        self._do(flow)

    @fail_closed
    async def awaited(self, flow: http.HTTPFlow) -> None:
        """A hook that is awaited."""
        self._do(flow)

    def _do(self, flow: http.HTTPFlow) -> None:
        flow.comment = "seen"
        if self.fault is not None:
            raise self.fault

    def call(self, name: str, flow: http.HTTPFlow) -> None:
        """Run a hook as mitmproxy does."""
        result = getattr(self, name)(flow)
        if inspect.isawaitable(result):

            async def run() -> None:
                await result

            asyncio.run(run())


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """The traces that the guard logs are wanted here."""
    caplog.set_level(logging.CRITICAL, "addons.guard")


@given(st.sampled_from(["plain", "awaited"]), faults)
def test_whatever_a_hook_raises_nothing_is_sent(name: str, fault: Exception) -> None:
    """The flow gets a 502 in the vendor's shape, which mitmproxy sends instead of asking the upstream."""
    made = flow()
    exchange = known(made, step=Send())

    Addon(fault).call(name, made)
    assert error_of(made.response)[:2] == (502, "api_error")
    assert (exchange.step, exchange.faulty) == (Relay(), True)


@given(st.sampled_from(["plain", "awaited"]), faults)
def test_a_flow_without_an_exchange_is_closed_as_well(name: str, fault: Exception) -> None:
    """What admission never saw is answered 502 all the same."""
    made = flow()

    Addon(fault).call(name, made)
    assert error_of(made.response)[0] == 502
    assert made not in EXCHANGES


@pytest.mark.parametrize("name", ["plain", "awaited"])
def test_a_hook_that_succeeds_is_left_alone(name: str) -> None:
    """Without a fault the guard changes nothing."""
    made = flow()
    exchange = known(made, step=Send())

    Addon(None).call(name, made)
    assert (made.comment, made.response, exchange.step, exchange.faulty) == ("seen", None, Send(), False)


@pytest.mark.parametrize("name", ["plain", "awaited"])
def test_the_end_of_the_program_is_not_a_fault(name: str) -> None:
    """What ends the program or the task goes through."""
    made = flow()

    with pytest.raises(KeyboardInterrupt):
        Addon(KeyboardInterrupt()).call(name, made)


def test_an_answer_that_was_there_is_replaced() -> None:
    """A fault after an answer was set gives none of it to the client."""
    made = flow()
    made.response = http.Response.make(200, b"good")

    Addon(ValueError()).call("plain", made)
    assert error_of(made.response)[0] == 502


def test_the_fault_is_logged_and_not_told(caplog: pytest.LogCaptureFixture) -> None:
    """The log names the hook and has the trace; the client is told to look there, and no more."""
    caplog.set_level(logging.ERROR, "addons.guard")
    made = flow()

    Addon(ValueError("the reason")).call("plain", made)
    assert "Addon.plain" in caplog.text
    assert "the reason" in caplog.text
    assert "the reason" not in error_of(made.response)[2]


def test_a_hook_keeps_its_name() -> None:
    """Hooks are found by name, and awaits those that are coroutines."""
    assert (Addon.plain.__name__, Addon.awaited.__name__) == ("plain", "awaited")
    assert inspect.iscoroutinefunction(Addon.awaited)
    assert not inspect.iscoroutinefunction(Addon.plain)


def test_each_fault_has_an_answer_of_its_own() -> None:
    """Two flows never share one response."""
    assert fault_response() is not fault_response()


@pytest.mark.parametrize("addon", [Admit, Control, Limits, RequestLog, Route])
def test_every_hook_of_ours_is_guarded(addon: type) -> None:
    """Each hook that meets a flow fails closed."""
    hooks = [getattr(addon, name) for name in FLOW_HOOKS if hasattr(addon, name)]

    assert hooks
    assert all(hasattr(hook, "__wrapped__") for hook in hooks)
