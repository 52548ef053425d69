"""What measuring meets, by name, for the properties of gauges."""

from datetime import datetime

from hypothesis import strategies as st

from routing.gauges import Gauge
from routing.rules import Probing
from tests.routing.made import seconds

meetings = st.sampled_from(["read", "failed", "throttled", "closed"])


def met(gauge: Gauge, what: str, at: datetime, rules: Probing, retry_after: float) -> Gauge:
    """Note one of the meetings; retry_after: seconds, where it is a limit."""
    match what:
        case "read":
            return gauge.read(at)
        case "closed":
            return gauge.closed(at)
        case "failed":
            return gauge.failed(at, "why", rules)
        case _:
            return gauge.throttled(at, "why", rules, seconds(retry_after))
