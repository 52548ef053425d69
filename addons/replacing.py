"""Replacing: puts the replaying layers in the place of mitmproxy's own, and closes the sockets that mitmproxy forgot."""

from typing import cast

from mitmproxy import ctx
from mitmproxy.proxy import layer, server_hooks
from mitmproxy.proxy.layers.http import HttpLayer

from addons import way as ways
from addons.replaylayer import ReplayLayer
from addons.sign import Signer
from credentials.way import DIRECT, Way


class Replay:
    """Puts the replaying layers in the place of mitmproxy's own."""

    name = "flowpool_replay"

    def __init__(self, signer: Signer, way: Way = DIRECT) -> None:
        self._signer, self._via = signer, ways.via_of(way)

    def server_disconnected(self, data: server_hooks.ServerConnectionHookData) -> None:
        """Close a socket that mitmproxy forgot: one that was given up while more of its data was waiting to be handled."""
        handler = ctx.master.addons.get("proxyserver").connections.get(data.client.id)
        transport = handler.transports.pop(data.server, None) if handler is not None else None
        if transport is not None and transport.writer is not None:
            transport.writer.close()

    def next_layer(self, nextlayer: layer.NextLayer) -> None:
        """Let mitmproxy choose the layers, then turn each HTTP layer into ours."""
        ctx.master.addons.get("nextlayer").next_layer(nextlayer)
        for chosen in nextlayer.context.layers:
            if type(chosen) is HttpLayer:
                chosen.__class__ = ReplayLayer
                ours = cast(ReplayLayer, chosen)
                ours.signer, ours.via = self._signer, self._via
