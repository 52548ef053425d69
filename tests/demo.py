"""`make demo`: three made-up accounts run out one after another in the middle of a session, and the client never notices.

Everything is real but the provider: mitmdump with flowpool's addons, sockets, a streaming client. The provider is the fake upstream
that the tests use, on loopback. Ends with 1 when anything was not as promised.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from tests.e2e.client import Client, Reply, turn
from tests.e2e.harness import Member, Proxy
from tests.upstream import Text, Upstream, limit, ok, plant

GAP = 0.1  # seconds between two events of a streamed turn
TOKENS = {name: plant(name) for name in ("work", "home", "spare")}
console = Console(highlight=False, soft_wrap=True)


@dataclass(frozen=True, slots=True)
class Scene:
    """One turn of the session: who refuses it, for which window and for how many seconds, and who must answer in the end."""

    title: str
    served_by: str
    refused_by: str | None = None
    window: str = "5h"
    resets_in: float = 0


SCENES = (
    Scene("the session begins", "work"),
    Scene("the next turn stays where the prompt cache is warm", "work"),
    Scene("work meets its weekly limit", "home", refused_by="work", window="7d", resets_in=3 * 86_400),
    Scene("the conversation lives on home now", "home"),
    Scene("home meets its 5-hour limit", "spare", refused_by="home", resets_in=2 * 3600),
    Scene(
        "spare runs out for three seconds: the request waits inside the proxy", "spare", refused_by="spare", resets_in=3
    ),
)


def main() -> int:
    """Play all scenes; the exit code."""
    with tempfile.TemporaryDirectory(prefix="flowpool-demo-") as folder, Upstream(TOKENS) as upstream:
        members = [Member(name=name, secret=secret, rank=rank) for rank, (name, secret) in enumerate(TOKENS.items())]
        with Proxy(Path(folder), upstream, members, settings={"wait": {"max": 30}}) as proxy:
            console.print(f"[bold]flowpool[/] on {proxy.url}, with the accounts {', '.join(TOKENS)}\n")
            with Client(proxy.url) as client:
                faults = [fault for scene in SCENES for fault in play(scene, client, upstream, proxy)]
            accounts(proxy.status())
    for fault in faults:
        console.print(f"[red]not as promised:[/] {fault}")
    if not faults:
        console.print("\nThe client saw every event of every turn, and no refusal.")
    return 1 if faults else 0


def play(scene: Scene, client: Client, upstream: Upstream, proxy: Proxy) -> list[str]:
    """One turn, told as it happens; what was wrong with it."""
    console.print(f"[bold cyan]{scene.title}[/]")
    for name in TOKENS:
        said = ok(Text(f"This is {name}, word by word by word."))
        upstream.default(name, said.gap(GAP))
    if scene.refused_by:
        upstream.script(scene.refused_by, limit(scene.window, resets_in=scene.resets_in))
    asked = len(upstream.requests)
    client.send(turn(plant("client"), session="demo", prompt="write a poem"))
    reply = client.begin(timeout=30)
    stream(reply)
    line = proxy.request_line(SCENES.index(scene) + 1)
    for attempt in line["tried"]:
        outcome = "served" if attempt["verdict"] == "ok" else f"refused with {attempt['status']}: {attempt['verdict']}"
        console.print(f"    {attempt['account']:<6} {outcome}")
    console.print(f"    because: {escape(line['because'])}\n")
    served = [request.account for request in list(upstream.requests)[asked:]]
    return check(scene, reply, served)


def stream(reply: Reply) -> None:
    """Read the answer, showing its words as they arrive."""
    console.print("    ", end="")
    shown = 0
    while reply.end is None:
        reply.client.read_body(reply)
        events = reply.events
        for event in events[shown:]:
            if event.name == "content_block_delta":
                console.print(escape(event.json["delta"].get("text", "")), end="")
        shown = len(events)
    console.print(f"  [dim]({len(reply.events)} events in {reply.ended_at - reply.begun_at:.1f} s)[/]")


def check(scene: Scene, reply: Reply, served: list[str]) -> list[str]:
    """What the client or the upstream saw that it should not have."""
    events = reply.events
    gaps = [later.at - earlier.at for earlier, later in pairwise(events)]
    faults = {
        f"status {reply.status}": reply.status == 200,
        f"the stream ended {reply.end}": reply.end == "whole",
        f"the last event was {reply.names[-1:]}": reply.names[-1:] == ["message_stop"],
        f"the client saw an error: {reply.names}": "error" not in reply.names,
        f"the accounts asked were {served}": served == [*filter(None, [scene.refused_by]), scene.served_by],
        f"events came in one burst: {gaps}": sum(gap > GAP / 2 for gap in gaps) >= len(gaps) - 3,
    }
    return [f"{scene.title}: {fault}" for fault, is_fine in faults.items() if not is_fine]


def accounts(status: dict[str, Any]) -> None:
    """How the accounts stand at the end."""
    console.print("[bold]the accounts now[/]")
    for account in status["accounts"]:
        console.print(f"    {account['name']:<6} {account['state']:<10} {escape(account['because'])}")


if __name__ == "__main__":
    sys.exit(main())
