"""Writes: what is said to a peer in one breath goes out in one write.

mitmproxy writes a message's head and its body apart, and each write is a system call, a packet, and a waking of the peer.
"""

from mitmproxy.proxy import commands, layer

MOST = 128 * 1024
"""Bytes of one write; to join more would cost more in copying than it saves."""

type Commands = layer.CommandGenerator[None]


def joined(told: Commands) -> Commands:
    """The same commands, where data for one connection that follows on other data for it is joined to it.

    For a layer whose own commands never block: what a blocking command is answered would get lost here.
    """
    held: commands.SendData | None = None
    for command in told:
        if type(command) is not commands.SendData:
            if held is not None:
                yield held
                held = None
            yield command
        elif held is None:
            held = command
        elif command.connection is held.connection and len(held.data) + len(command.data) <= MOST:
            held = commands.SendData(held.connection, held.data + command.data)
        else:
            yield held
            held = command
    if held is not None:
        yield held
