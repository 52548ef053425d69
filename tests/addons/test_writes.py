"""Writes: what follows on other data for the same connection is joined to it; nothing else changes."""

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st
from mitmproxy import connection
from mitmproxy.proxy import commands, layer

from addons.writes import MOST, joined

PEERS = tuple(connection.Server(address=("127.0.0.1", port)) for port in (1, 2))

sends = st.builds(
    commands.SendData, st.sampled_from(PEERS), st.sampled_from([b"a", b"bc", b"d" * (MOST // 2), b"e" * MOST])
)
others = st.builds(commands.CloseConnection, st.sampled_from(PEERS))


def told(given_: Iterable[commands.Command]) -> list[commands.Command]:
    """What comes out."""

    def layer_() -> layer.CommandGenerator[None]:
        yield from given_

    return list(joined(layer_()))


def total(given_: Iterable[commands.Command]) -> list[tuple[object, bytes]]:
    """What each run of data for one peer holds."""
    runs: list[tuple[object, bytes]] = []
    for command in given_:
        if not isinstance(command, commands.SendData):
            runs.append((command, b""))
        elif runs and runs[-1][0] is command.connection:
            runs[-1] = command.connection, runs[-1][1] + command.data
        else:
            runs.append((command.connection, command.data))
    return runs


@given(st.lists(st.one_of(sends, others), max_size=8))
def test_every_byte_goes_to_its_peer_in_order(given_: list[commands.Command]) -> None:
    """Joining loses nothing, moves nothing past another command, and makes no write over the bound."""
    after = told(given_)

    assert total(after) == total(given_)
    sizes = [len(command.data) for command in after if isinstance(command, commands.SendData)]
    assert all(size <= MOST for size in sizes)


def test_a_head_and_its_body_are_one_write() -> None:
    """Two commands in a row for one peer become one; for two peers they stay two."""
    one, two = PEERS
    after = told([commands.SendData(one, b"head"), commands.SendData(one, b"body"), commands.SendData(two, b"x")])

    assert [command.data for command in after if isinstance(command, commands.SendData)] == [b"headbody", b"x"]
