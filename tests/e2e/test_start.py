"""How the proxy starts: without flags, beside others, and not at all where something is wrong."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.client import Client, turn
from tests.e2e.harness import Program, Proxy
from tests.e2e.pool import ranked, token
from tests.upstream import Upstream, closed_port, limit, plant

MEMBERS = ranked("work", "home")
TOKENS = {member.name: token(member) for member in MEMBERS}


@pytest.fixture
def held_8080() -> Iterator[None]:
    """Port 8080, mitmproxy's own default, is taken on all addresses."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):  # then somebody else has it, which is as good
            holder.bind(("0.0.0.0", 8080))
            holder.listen()
        yield


def _works(proxy: Proxy) -> None:
    with Client(proxy.url) as client:
        reply = client.ask(turn(plant("client")))
    assert (reply.status, reply.text) == (200, "This is work speaking.")


@pytest.mark.usefixtures("held_8080")
@pytest.mark.parametrize("program", ["mitmdump", "mitmweb", "flowpool serve"])
def test_it_starts_without_flags_while_port_8080_is_taken(tmp_path: Path, program: Program) -> None:
    """Each way to start serves on [listen] claude, says so in one line, and writes running.json with its own pid."""
    with Upstream(TOKENS) as upstream, Proxy(tmp_path, upstream, MEMBERS, program=program) as proxy:
        _works(proxy)
        running = json.loads((proxy.home / "running.json").read_text())
        assert running["pid"] == proxy.status()["pid"] == proxy.pid
        assert f"http://{running['listen']['claude']}" == proxy.url
        assert proxy.log_text().count("flowpool: listening on ") == 1
        assert f"http://{proxy.status()['listen']['claude']}" == proxy.url
        assert (proxy.home / "control.key").stat().st_mode & 0o777 == 0o600
        proxy.stop()
        assert not (proxy.home / "running.json").exists()


def test_minus_p_replaces_the_port(tmp_path: Path) -> None:
    """-p N given to mitmdump serves on N and nowhere else."""
    port, listen = closed_port(), closed_port()
    settings = {"listen": {"claude": f"127.0.0.1:{listen}"}}
    args = ("-p", str(port))
    with Upstream(TOKENS) as upstream, Proxy(tmp_path, upstream, MEMBERS, settings=settings, args=args) as proxy:
        assert proxy.url == f"http://127.0.0.1:{port}"
        _works(proxy)
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", listen)) != 0


def test_a_second_reverse_mode_to_the_upstream_is_ours(tmp_path: Path) -> None:
    """Given modes are taken as they are; each that leads to the provider's upstream is served, and shares the accounts."""
    ports = closed_port(), closed_port()
    with Upstream(TOKENS) as upstream:
        modes = [arg for port in ports for arg in ("--mode", f"reverse:{upstream.url}@127.0.0.1:{port}")]
        with Proxy(tmp_path, upstream, MEMBERS, args=modes):
            upstream.script("work", limit("7d"))
            with Client(f"http://127.0.0.1:{ports[1]}") as client:
                assert client.ask(turn(plant("client"))).text == "This is home speaking."
            with Client(f"http://127.0.0.1:{ports[0]}") as client:
                assert client.ask(turn(plant("client"))).text == "This is home speaking."
            assert upstream.requests.accounts() == ["work", "home", "home"]


def test_own_answer_e_for_a_reverse_mode_to_somebody_else(tmp_path: Path) -> None:
    """A mode to another address is refused, however the upstream looks."""
    with Upstream(TOKENS) as upstream, Upstream(TOKENS) as other:
        port = closed_port()
        args = ("--mode", f"reverse:{upstream.url}@127.0.0.1:0", "--mode", f"reverse:{other.url}@127.0.0.1:{port}")
        with Proxy(tmp_path, upstream, MEMBERS, args=args), Client(f"http://127.0.0.1:{port}") as client:
            reply = client.ask(turn(plant("client")))
            assert (reply.status, reply.error[0], reply.header("x-should-retry")) == (
                400,
                "invalid_request_error",
                "false",
            )
            assert len(upstream.requests) == len(other.requests) == 0


# -- what keeps it from starting -----------------------------------------------------------------------------------


def _config(text: str) -> Callable[[Proxy], None]:
    return lambda proxy: proxy.write_config(text)


def _accounts(text: str) -> Callable[[Proxy], None]:
    def write(proxy: Proxy) -> None:
        proxy.write()
        (proxy.home / "accounts.toml").write_text(text)

    return write


WRONG: dict[str, tuple[Callable[[Proxy], None], list[str]]] = {
    "unknown key": (_config("version = 1\n[wait]\nmaxx = 3\n"), ["config.toml:3", "wait.max"]),
    "wrong type": (_config('version = 1\n[limits]\ngate_ms = "soon"\n'), ["config.toml:3", "limits.gate_ms"]),
    "not toml": (_config("version = = 1\n"), ["config.toml"]),
    "newer version": (_config("version = 99\n"), ["version"]),
    "http upstream": (_config('[providers.anthropic]\nupstream = "http://api.anthropic.com"\n'), ["upstream"]),
    "upstream with a path": (
        _config('[providers.anthropic]\nupstream = "https://api.anthropic.com/v1"\n'),
        ["upstream"],
    ),
    "unknown strategy": (_config('[routing]\nstrategy = "luck"\n'), ["routing.strategy"]),
    "accounts not toml": (_accounts("accounts = ["), ["accounts.toml"]),
    "accounts of a newer version": (_accounts("version = 9\n"), ["version"]),
    "account of no provider": (
        _accounts(
            'version = 1\n[[accounts]]\nid = "a1"\nname = "work"\nprovider = "nobody"\nkind = "oauth"\nenabled = true\n'
        ),
        ["provider"],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_file_is_one_line_and_exit_2(tmp_path: Path, case: str) -> None:
    """The line names the file, the key and what would be right; nothing listens and nothing is changed."""
    write, words = WRONG[case]
    proxy = Proxy(tmp_path, "http://127.0.0.1:9", MEMBERS, told_mode=True)
    write(proxy)
    before = {path.name: path.read_bytes() for path in proxy.home.iterdir()}
    ended = proxy.exits()
    lines = [line for line in ended.err.splitlines() if line.startswith("flowpool: ")]
    assert ended.code == 2
    assert len(lines) == 1
    assert all(word in lines[0] for word in words)
    assert "Traceback" not in ended.err + ended.out
    assert "listening" not in ended.err + ended.out
    assert not (proxy.home / "running.json").exists()
    assert {name: (proxy.home / name).read_bytes() for name in before} == before


def test_all_wrong_settings_are_told_at_once(tmp_path: Path) -> None:
    """Three faults are three lines, each with its own place."""
    proxy = Proxy(tmp_path, "http://127.0.0.1:9", MEMBERS, told_mode=True)
    proxy.write_config("[wait]\nmax = -1\n[hold]\nauth = 3\n[nothing]\nx = 1\n")
    ended = proxy.exits()
    lines = [line for line in ended.err.splitlines() if line.startswith("flowpool: ")]
    assert (ended.code, len(lines)) == (2, 3)
    assert all(key in ended.err for key in ("wait.max", "hold.auth_s", "nothing"))


def test_a_taken_listen_port_ends_the_start(tmp_path: Path) -> None:
    """When [listen] claude itself is taken the program ends with an error and never says that it listens."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        address = f"127.0.0.1:{holder.getsockname()[1]}"
        proxy = Proxy(tmp_path, "http://127.0.0.1:9", MEMBERS, settings={"listen": {"claude": address}})
        ended = proxy.exits()
    assert ended.code == 2
    assert "flowpool: listening" not in ended.err
    assert ended.err.count("\n") == 1
    assert f"{address} is taken by" in ended.err
    assert f"(pid {os.getpid()})" in ended.err
    assert not (proxy.home / "running.json").exists()
