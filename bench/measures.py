"""What is measured of a running program; each returns one figure of one round."""

import re
import subprocess
import time
from collections.abc import Iterator
from statistics import median

from bench import client
from bench.programs import Running, described
from bench.turns import wire
from tests.e2e.harness import BIN, Proxy

HOP = re.compile(rb'"hop_ns":(\d+)')
REFUSED = b"429"
MB = 1_000_000
KEY = "x-flowpool-key"

type Figures = list[float]


def at(values: Figures, share: float) -> float:
    """The value that this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def small(running: Running, connections: int, count: int) -> Figures:
    """Seconds of each small POST over kept connections; each connection is one conversation."""
    wires = [wire(running.address) for _ in range(connections)]
    client.ask(running.address, wires, 5 * connections)
    return client.ask(running.address, wires, count)


def big(running: Running, count: int) -> float:
    """Seconds of a POST with an 8 MB body, the median."""
    return median(client.ask(running.address, [wire(running.address, size=8 * MB)], count))


def stream_delays(running: Running, streams: int, rate: float, seconds: float) -> Figures:
    """Seconds that each event of these streams was on its way."""
    wires = [wire(running.address, order=f"sse {rate:g} {rate * seconds:.0f}", stream=True) for _ in range(streams)]
    return client.listen(running.address, wires, ramp_s=1, during=lambda: None)


def loaded_streams(running: Running, streams: int, rate: float, ramp_s: float, seconds: float) -> tuple[Figures, float]:
    """Seconds that each event was on its way, while streams with 1 MB bodies begin and go on; the most MB resident."""
    order = f"sse {rate:g} {rate * (ramp_s + seconds):.0f}"
    wires = [wire(running.address, order=order, size=MB, stream=True) for _ in range(streams)]
    resident: Figures = []
    delays = client.listen(running.address, wires, ramp_s=ramp_s, during=lambda: resident.append(running.resident()))
    return delays, max(resident)


def hops(running: Running, count: int, *, round_number: int) -> Figures:
    """Seconds from each refusal's last byte to the first byte of the request on the next account."""
    taken: Figures = []
    for n in range(count):
        asked = wire(running.address, order=f"limit {running.name}-{round_number}-{n}")
        answer = client.ask_each(running.address, [asked], 1)[0]
        found = HOP.search(answer)
        assert found is not None  # noqa: S101 - the upstream says it, or this is not its answer
        taken.append(int(found[1]) / 1e9)
        _lift(running)
    return taken


def _lift(running: Running) -> None:
    """End the hold that the refusal put on the account."""
    assert running.proxy is not None  # noqa: S101 - only proxies hop
    proxy = running.proxy
    key = (proxy.home / "control.key").read_text(encoding="utf-8").strip()
    ids = ", ".join(f'"{member.id}"' for member in proxy.members.values())
    body = f'{{"accounts": [{ids}]}}'
    host = "{}:{}".format(*running.address)
    head = f"POST /_flowpool/lift HTTP/1.1\r\nHost: {host}\r\n{KEY}: {key}\r\nContent-Length: {len(body)}\r\n\r\n"
    client.ask_each(running.address, [(head + body).encode()], 1)


def growth(running: Running, count: int, warm_up: int) -> float:
    """Percent by which resident memory grows over so many requests with 50 kB bodies, one in ten refused with 50 kB."""
    _with_refusals(running, warm_up, "w")
    before = running.resident()
    _with_refusals(running, count, "m")
    return 100 * (running.resident() - before) / before


def _with_refusals(running: Running, count: int, mark: str) -> None:
    plain = wire(running.address, size=50_000)
    refused = wire(running.address, size=50_000, order="bare ????????")

    def wires() -> Iterator[bytes]:
        for n in range(count):
            yield plain if n % 10 else refused.replace(b"????????", f"{mark}{n:07d}".encode(), 1)

    client.ask_all(running.address, wires(), 8, allowed=(client.OK, REFUSED))


def status(proxy: Proxy) -> float:
    """Seconds of one `flowpool status`, a new process."""
    begun = time.perf_counter()
    subprocess.run([str(BIN / "flowpool"), "status"], env=proxy.env(), check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    return time.perf_counter() - begun


__all__ = ["at", "big", "described", "growth", "hops", "loaded_streams", "small", "status", "stream_delays"]
