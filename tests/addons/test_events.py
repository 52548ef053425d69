"""What the layers are told and tell: hardly more than names, held against mitmproxy's."""

import inspect

from mitmproxy import options
from mitmproxy.connection import Client
from mitmproxy.proxy import events
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers.http import _events

from addons.events import FROM_UPSTREAM, Cut, Deaf, FlowpoolAttemptHook


def test_whatever_an_upstream_can_say_is_known_to_come_from_it() -> None:
    """Else a stream would take what an ended attempt still says for the next one's."""
    said = {
        one
        for name, one in inspect.getmembers(_events, inspect.isclass)
        if name.startswith("Response") and issubclass(one, _events.HttpEvent)
    }
    assert set(FROM_UPSTREAM) == said


def test_the_hook_has_the_name_by_which_addons_implement_it() -> None:
    """Mitmproxy derives it from the class."""
    assert FlowpoolAttemptHook.name == "flowpool_attempt", "mitmproxy names hooks in another way"


def test_who_is_deaf_says_nothing() -> None:
    """Whatever it is told, bytes and ends included."""
    peer = Client(peername=("", 0), sockname=("", 0))
    deaf = Deaf(Context(peer, options.Options()))
    for event in (events.Start(), events.DataReceived(peer, b"x"), events.ConnectionClosed(peer), Cut()):
        assert list(deaf.handle_event(event)) == []
