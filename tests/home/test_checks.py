"""Values are accepted or refused with what is wanted."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from home import checks
from home.checks import Address

GOOD_ADDRESSES = ["127.0.0.1:3456", "127.0.0.1:0", "[::1]:0", "localhost:65535", "0.0.0.0:80", "my-host.local:1"]
BAD_ADDRESSES = [
    "", "3456", ":3456", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:x", "::1:3456", "[::1]", "[zz]:1",
    "http://127.0.0.1:1", "a b:1", "127.0.0.1:1/", "-a:1", "[127.0.0.1]:1", "127.0.0.1:\u0663", 3456, None, True,
]  # fmt: skip
GOOD_UPSTREAMS = [
    ("https://api.anthropic.com", "https://api.anthropic.com"),
    ("https://api.anthropic.com/", "https://api.anthropic.com"),
    ("HTTPS://API.anthropic.com:8443", "https://api.anthropic.com:8443"),
    ("http://127.0.0.1:1", "http://127.0.0.1:1"),
    ("http://127.9.9.9:1", "http://127.9.9.9:1"),
    ("http://localhost:1", "http://localhost:1"),
    ("http://[::1]:1", "http://[::1]:1"),
]
BAD_UPSTREAMS = [
    "", "api.anthropic.com", "http://api.anthropic.com", "http://localhost.evil.example", "http://127.0.0.1.evil.example", "https://",
    "https://a/v1", "https://a?x", "https://a?", "https://a#", "https://u:PLANTED@a", "https://u:PLANTED", "https://[PLANTED]", "https://@a", "https://a:0", "https://a:x",
    "https://a:99999", "https://a:", "ftp://a", "https://a b", "https://a\n", "https://[::1", "https://[zz]", "https://ä", "https:a",
    "//a", 1, None,
]  # fmt: skip


@pytest.mark.parametrize("text", GOOD_ADDRESSES)
def test_a_good_address_is_written_as_it_was_read(text: str) -> None:
    """An address survives the way in and out."""
    assert text == str(checks.address(text))


@given(host=st.ip_addresses(), port=st.integers(0, 65535))
def test_every_number_is_an_address(host: object, port: int) -> None:
    """Any IP address and port can be said and read back."""
    address = Address(host=str(host), port=port)

    assert address == Address.parse(str(address))


@pytest.mark.parametrize("value", BAD_ADDRESSES, ids=repr)
def test_a_bad_address_is_refused(value: object) -> None:
    """Everything else is a ValueError."""
    with pytest.raises(ValueError):  # noqa: PT011
        checks.address(value)


@pytest.mark.parametrize(("value", "url"), GOOD_UPSTREAMS)
def test_a_good_upstream_is_normalised(value: str, url: str) -> None:
    """A URL loses its last slash and capitals."""
    assert url == checks.upstream(value)


@pytest.mark.parametrize("value", BAD_UPSTREAMS, ids=repr)
def test_a_bad_upstream_is_refused_unquoted(value: object) -> None:
    """Paths, queries, credentials, plain http to elsewhere and nonsense are refused, and never quoted."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        checks.upstream(value)

    assert "PLANTED" not in str(caught.value)


@pytest.mark.parametrize(
    "check",
    [
        checks.fraction,
        checks.seconds,
        checks.beats,
        checks.some_seconds,
        checks.milliseconds,
        checks.kib,
        checks.some_mib,
    ],
    ids=["fraction", "seconds", "beats", "some_seconds", "milliseconds", "kib", "some_mib"],
)
@pytest.mark.parametrize(
    "value", [True, False, "1", None, [], -1, float("nan"), float("inf"), 1e300, 10**400], ids=range(10)
)
def test_what_is_no_sensible_number_is_refused(check: checks.Check, value: object) -> None:
    """No check of numbers takes flags, text, NaN, infinity or what is out of range."""
    with pytest.raises(ValueError, match=r"number|seconds"):
        check(value)


def test_whole_numbers_become_floats() -> None:
    """An int is as good as a float."""
    assert repr(checks.seconds(2)) == "2.0"
    assert checks.waits([1, 0.5]) == (1.0, 0.5)
    assert checks.waits([]) == ()


def test_nothing_is_enough_only_where_it_makes_sense() -> None:
    """A wait may be 0, a limit may not."""
    assert checks.seconds(0) == 0

    with pytest.raises(ValueError, match="more than 0"):
        checks.some_seconds(0)


BOUNDS = [  # check, least and most that it takes, the most as it is said
    (checks.fraction, 0, 1, "1"),
    (checks.seconds, 0, 366 * 86400, "a year"),
    (checks.beats, 0, 120, "120"),
    (checks.some_seconds, 1e-9, 366 * 86400, "a year"),
    (checks.milliseconds, 0, 1e9, "1000000000"),
    (checks.kib, 0, 1e9, "1000000000"),
    (checks.some_mib, 1e-9, 1e6, "1000000"),
]


@pytest.mark.parametrize(("check", "least", "most", "said"), BOUNDS, ids=[bound[0].wanted for bound in BOUNDS])
def test_the_range_that_is_said_is_the_one_that_holds(
    check: checks.Check, least: float, most: float, said: str
) -> None:
    """Both ends are taken, what is past them is not, and the words name them."""
    assert (check(least), check(most)) == (least, most)
    assert check.wanted.endswith(f" {said}")
    assert ("more than 0" in check.wanted) == (least > 0)
    for value in (most * 1.001, -1e-9, *([0] if least else [])):
        with pytest.raises(ValueError, match=re.escape(check.wanted)):
            check(value)


@pytest.mark.parametrize("value", [1, "1", None, [True], ["1"], [-1], [[1]], [1] * 21, {}], ids=repr)
def test_waits_are_a_short_list_of_seconds(value: object) -> None:
    """Anything but a list of sensible numbers is refused."""
    with pytest.raises(ValueError, match="list"):
        checks.waits(value)


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    """The names are listed and the likely one is asked about."""
    with pytest.raises(ValueError, match=r'"avoid" or "allow"; did you mean "allow"\?$'):
        checks.one_of("avoid", "allow")("alow")
    with pytest.raises(ValueError, match=r'^"avoid" or "allow"$'):
        checks.one_of("avoid", "allow")(1)


@pytest.mark.parametrize("value", [0, 1, "true", None])
def test_a_flag_is_true_or_false(value: object) -> None:
    """Numbers and text are no flags."""
    assert checks.flag(True)

    with pytest.raises(ValueError, match="true or false"):
        checks.flag(value)


@pytest.mark.parametrize("value", [value for value in BAD_UPSTREAMS if value != "https://a/v1"], ids=repr)
def test_a_bad_endpoint_is_refused(value: object) -> None:
    """What is no upstream is no endpoint either, but for its path."""
    with pytest.raises(ValueError):  # noqa: PT011
        checks.endpoint(value)


def test_an_endpoint_keeps_its_path() -> None:
    """Its host loses its capitals alone."""
    assert checks.endpoint("https://A.example/V1/token") == "https://a.example/V1/token"
