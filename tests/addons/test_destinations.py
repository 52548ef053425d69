"""Where a tunnel may not lead."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addons.destinations import NEIGHBOUR, OURSELVES, led_astray, literal, unfit

LISTENERS = [("127.0.0.1", 3456), ("127.0.0.1", 3458)]


@pytest.mark.parametrize(
    ("host", "port", "wanted"),
    [
        ("127.0.0.1", 3456, OURSELVES),
        ("localhost", 3458, OURSELVES),
        ("LocalHost.", 3456, OURSELVES),
        ("one.localhost", 3456, OURSELVES),
        ("127.1", 3456, OURSELVES),
        ("127.77.1.2", 3456, OURSELVES),
        ("0x7f000001", 3456, OURSELVES),
        ("2130706433", 3456, OURSELVES),
        ("017700000001", 3456, OURSELVES),
        ("0.0.0.0", 3456, OURSELVES),
        ("::", 3456, OURSELVES),
        ("::1", 3456, OURSELVES),
        ("[::1]", 3456, OURSELVES),
        ("::ffff:127.0.0.1", 3456, OURSELVES),
        ("127.0.0.1", 3457, None),
        ("localhost", 443, None),
        ("169.254.169.254", 80, NEIGHBOUR),
        ("::ffff:169.254.169.254", 80, NEIGHBOUR),
        ("0xa9fea9fe", 80, NEIGHBOUR),
        ("fe80::1%eth0", 443, NEIGHBOUR),
        ("fd00:ec2::254", 80, NEIGHBOUR),
        ("fd20:ce::254", 80, NEIGHBOUR),
        ("100.100.100.200", 80, NEIGHBOUR),
        ("224.0.0.251", 5353, NEIGHBOUR),
        ("10.0.0.5", 443, None),
        ("192.168.1.2", 3456, None),
        ("platform.claude.com", 3456, None),
        ("localhost.evil.example", 3456, None),
        ("", 3456, None),
        ("a\0b", 3456, None),
    ],
)
def test_what_the_text_of_a_host_tells(host: str, port: int, wanted: str | None) -> None:
    """Ourselves in every spelling of loopback, and what only neighbours of this machine have; names must be looked up first."""
    assert unfit(host, port, LISTENERS) == wanted


@pytest.mark.parametrize(
    ("peer", "own", "listeners", "wanted"),
    [
        (("127.0.0.1", 3456), ("127.0.0.1", 50000), LISTENERS, OURSELVES),
        (("127.0.1.1", 3458), ("127.0.0.1", 50000), LISTENERS, OURSELVES),
        (("::1", 3456), ("::1", 50000), [("::", 3456)], OURSELVES),
        (("10.0.0.5", 3456), ("10.0.0.5", 50000), [("0.0.0.0", 3456)], OURSELVES),
        (("10.0.0.5", 3456), ("10.0.0.5", 50000), [("10.0.0.5", 3456)], OURSELVES),
        (("10.0.0.6", 3456), ("10.0.0.5", 50000), [("0.0.0.0", 3456)], None),
        (("10.0.0.5", 3457), ("10.0.0.5", 50000), [("0.0.0.0", 3456)], None),
        (("127.0.0.1", 8080), ("127.0.0.1", 50000), LISTENERS, None),
        (("160.79.104.10", 443), ("10.0.0.5", 50000), LISTENERS, None),
        (("169.254.169.254", 443), ("10.0.0.5", 50000), LISTENERS, NEIGHBOUR),
        (("fe80::1%2", 443), ("fe80::2%2", 50000), LISTENERS, NEIGHBOUR),
        (("no address", 443), ("10.0.0.5", 50000), LISTENERS, NEIGHBOUR),
    ],
)
def test_where_a_connection_led(
    peer: tuple[str, int], own: tuple[str, int], listeners: list[tuple[str, int]], wanted: str | None
) -> None:
    """Whatever name led there: this machine's own address where we listen on all of them is ourselves, too."""
    assert led_astray(peer, own, listeners) == wanted


@given(st.ip_addresses(network="127.0.0.0/8"), st.sampled_from(["", "0x", "d", "mapped"]))
def test_no_spelling_of_loopback_hides_it(ip: object, spelling: str) -> None:
    """Dotted, as one number, in hexadecimal, or written as IPv6: the listener is recognised."""
    number = int(ip)  # type: ignore[call-overload]
    host = {"": str(ip), "0x": hex(number), "d": str(number), "mapped": f"::ffff:{ip}"}[spelling]
    assert unfit(host, 3456, LISTENERS) == OURSELVES


@given(st.text(max_size=30))
def test_no_host_makes_it_fail(host: str) -> None:
    """Whatever stands in a CONNECT."""
    assert unfit(host, 3456, LISTENERS) in {None, OURSELVES, NEIGHBOUR}
    literal(host)
