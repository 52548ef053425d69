"""What every provider owes: subclass it, name the provider and two requests, and its tests run."""

import json
from datetime import timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from addons.sign import is_secret
from providers.contract import SECRET_HEADERS, Answer, ErrorEvent, Head, Provider, Usage
from providers.known import KNOWN
from providers.sse import Frames
from routing.decisions import Answer as Own
from routing.decisions import Barred, GiveUp
from routing.words import Account, AccountId, Kind
from tests.providers.samples import NOON, RULES

NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,12}", fullmatch=True)
shared = settings(suppress_health_check=[HealthCheck.differing_executors])


class ProviderContract:
    """Subclass with the provider and two requests, the first of which it pools."""

    provider: Provider
    pooled: Head
    other: Head

    def test_pooled_paths(self) -> None:
        """A pooled path is known with and without a query; behind a prefix it is misplaced; others are neither."""
        path = self.pooled.path
        for right in (path, path.partition("?")[0], path + "?x=1"):
            head = Head(method=self.pooled.method, path=right, headers={})
            assert self.provider.is_pooled(head)
            assert not self.provider.is_misplaced(head)
        wrong = Head(method=self.pooled.method, path="/v1" + path, headers={})
        assert not self.provider.is_pooled(wrong)
        assert self.provider.is_misplaced(wrong)
        assert not self.provider.is_pooled(self.other)
        assert not self.provider.is_misplaced(self.other)
        assert not self.provider.is_foreign(self.pooled)
        assert not self.provider.is_foreign(self.other)

    def test_hosts(self) -> None:
        """Each is a bare name that nobody else on the list has, written as names are compared."""
        assert self.provider.hosts
        assert all(host == host.lower().strip(".") and ":" not in host and "." in host for host in self.provider.hosts)
        assert not [one for one in KNOWN if one is not self.provider and one.hosts & self.provider.hosts]

    @shared
    @given(body=st.binary(max_size=200), headers=st.dictionaries(NAMES, st.text(max_size=20), max_size=4))
    def test_demand_takes_any_body(self, body: bytes, headers: dict[str, str]) -> None:
        """A body that cannot be read makes a demand without a model, and never fails."""
        head = Head(method="POST", path=self.pooled.path, headers=headers)
        demand = self.provider.demand(head, body)
        assert demand.provider == self.provider.name
        assert demand == self.provider.demand(head, body)

    def test_rides(self) -> None:
        """Every kind of credential travels in one secret header, and no list gains what it loses."""
        for kind in Kind:
            ride = self.provider.ride(kind)
            assert ride.header in self.provider.secret_headers
            assert ride.value.count("{}") == 1
            assert not ride.gains & ride.loses
            assert bool(ride.list_header) or not ride.gains | ride.loses

    def test_every_secret_header_is_masked(self) -> None:
        """The proxy knows the provider, and masks on every flow what it says may hold a credential."""
        assert self.provider in KNOWN
        assert self.provider.secret_headers >= SECRET_HEADERS
        assert all(name == name.lower() and is_secret(name.encode()) for name in self.provider.secret_headers)

    @shared
    @given(headers=st.dictionaries(NAMES, st.text(max_size=20), max_size=6))
    def test_readings_take_any_headers(self, headers: dict[str, str]) -> None:
        """No header makes reading fail; what was read is stamped with both times."""
        for reading in self.provider.readings(headers, sent_at=NOON - timedelta(seconds=1), now=NOON):
            assert (reading.sent_at, reading.taken_at) == (NOON - timedelta(seconds=1), NOON)

    @shared
    @given(status=st.integers(100, 599), body=st.binary(max_size=60))
    def test_every_answer_is_judged_and_relayed(self, status: int, body: bytes) -> None:
        """Every answer has a row; its status is relayed, and its bytes are, unless the row replaces a page."""
        answer = Answer(status=status, headers={}, body=body)
        verdict = self.provider.classify(answer, self.provider.demand(self.pooled, b"{}"), RULES, NOON)
        assert 8 <= verdict.row <= 24
        reply = self.provider.relayed(answer, (("X-One", "1"), ("x-one", "2")), body, verdict)
        assert reply.status == status
        assert reply.headers[:2] == (("X-One", "1"), ("x-one", "2"))
        assert reply.body == body or body.lstrip().startswith(b"<")

    def test_a_fresh_reader_knows_nothing(self) -> None:
        """Every stream gets a reader of its own, which has seen no end and no usage."""
        reader = self.provider.stream_reader()
        assert reader is not self.provider.stream_reader()
        assert (reader.usage, reader.is_complete, reader.may_end) == (Usage(), False, False)
        assert reader.see("", b"") is False
        assert reader.see("some.unknown.event", b"\xff") is False

    @shared
    @given(message=st.text(max_size=50))
    def test_own_errors(self, message: str) -> None:
        """An error of our own is JSON of the length that it states, and says when not to try again."""
        for retry in (True, False):
            reply = self.provider.failed(502, message, retry=retry)
            fields = dict(reply.headers)
            assert reply.status == 502
            assert json.loads(reply.body)
            assert fields["content-type"] == "application/json"
            assert fields["content-length"] == str(len(reply.body))
            assert fields.get("x-should-retry") == (None if retry else "false")

    @shared
    @given(message=st.text(max_size=50))
    def test_the_last_event_of_a_broken_stream(self, message: str) -> None:
        """It is one whole frame, and a reader takes it for an error."""
        raw = self.provider.error_event(message)
        frames = Frames()
        (frame,) = frames.feed(raw)
        assert (frame.raw, frames.pending) == (raw, b"")
        assert isinstance(self.provider.stream_reader().see(frame.event, frame.data), ErrorEvent)

    def test_giving_up(self) -> None:
        """Own answers A, B and C are whole, name the accounts, and never look like a lost login of the client."""
        accounts = {AccountId("a1"): Account(id=AccountId("a1"), name="work", provider="x", kind=Kind.OAUTH)}
        for own in (Own.LIMITED, Own.LOCKED_OUT, Own.NONE_ENABLED):
            barred = Barred(account=AccountId("a1"), because="why", row=13, until=NOON + timedelta(hours=1))
            choice = GiveUp(answer=own, because="", recovers=barred, barred=(barred,))
            reply = self.provider.gave_up(choice, accounts, (), NOON)
            assert reply.status not in {401, 403}
            assert dict(reply.headers)["content-length"] == str(len(reply.body))
            assert "work" in reply.body.decode()
