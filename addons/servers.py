"""Servers: the connections to upstreams that one client's connection holds, which of them are kept, and how one is given up.

Like addons/replay.py this file knows mitmproxy's internals; tests/addons/test_replay.py pins what it uses.
"""

from mitmproxy.connection import Connection, ConnectionState, Server
from mitmproxy.net.server_spec import ServerSpec
from mitmproxy.proxy import commands, layer
from mitmproxy.proxy.layers.http import HttpLayer, HttpStream

from addons import way as ways
from addons.events import Deaf
from addons.sign import Signer

type Commands = layer.CommandGenerator[None]


class ServersLayer(HttpLayer):
    """mitmproxy's HTTP layer as far as its servers go; every HTTP layer of ours is one.

    via: the network's proxy that upstreams are reached through; None: none.
    """

    signer: Signer
    via: ServerSpec | None = None

    def is_kept(self, connection: Connection) -> bool:
        """Whether it is a server's, open, and kept for requests that may come: no tunnel's, and not what another one is tunnelled through."""
        is_open = isinstance(connection, Server) and connection.connected
        is_tunnel = isinstance(self.connections[connection], HttpStream)
        return is_open and not is_tunnel and not ways.is_outer(connection, self.connections)

    def let_go(self, connection: Connection) -> Commands:
        """Close a connection; nothing that still comes from it reaches a stream."""
        outer = ways.socket_of(connection, self.connections)
        for one in {connection, outer}:
            self.connections[one] = Deaf(self.context.fork())
        connection.state = ConnectionState.CLOSED
        yield commands.CloseConnection(outer)

    def forget_failed_servers(self) -> None:
        """Dial again: mitmproxy would repeat a failed connection's error without trying."""
        for connection in list(self.connections):
            failed = isinstance(connection, Server) and connection.error
            if failed and connection not in self.waiting_for_establishment:
                del self.connections[connection]


def has_ours(top: layer.Layer | None) -> bool:
    """Whether a stack of layers holds one of ours, which alone know our events."""
    return any(isinstance(found, ServersLayer) for found in ways.layers_below(top))
