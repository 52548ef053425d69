"""How a proxy ends, and how another takes its place: nobody is refused, nothing is cut that could be answered."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from wsproto.events import CloseConnection

from flowpool import restart, stop
from flowpool.errors import Failure
from home import running
from home.running import Running
from tests.e2e.client import Client, Reply
from tests.e2e.conftest import Make
from tests.e2e.harness import Program, Proxy
from tests.e2e.living import PATIENT, Living, Load, gone, living, until
from tests.e2e.pool import BLOCK, Pool, ranked, token
from tests.e2e.websocket import WebSocket
from tests.thorough import amount
from tests.upstream import Upstream, closed_port, limit, ok, plant
from tests.upstream.asks import count_tokens
from tests.upstream.websockets import WebSockets

STREAMS = 50
RESTARTS = amount(2, 5)
HELD = ok("One two three").wait("body", after="content_block_start")


def _begun(pool: Pool, stack: ExitStack, count: int) -> list[Reply]:
    """So many streams that have begun, and go on when the upstream lets them."""
    pool.upstream.default("work", HELD)
    clients = [stack.enter_context(pool.client()) for _ in range(count)]
    for client in clients:
        client.send(pool.turn())
    return [client.begin().until(BLOCK) for client in clients]


def _whole(replies: Sequence[Reply]) -> None:
    for reply in replies:
        assert reply.rest().end == "whole"
        assert reply.text == "One two three"
        assert reply.names[-1] == "message_stop"


def test_restarts_refuse_nobody_and_cut_nothing(tmp_path: Path) -> None:
    """Under up to 200 new connections a second, and with fifty streams that last longer than all of them."""
    with living(tmp_path, "work") as (pool, proxy), ExitStack() as stack:
        replies = _begun(pool, stack, STREAMS)
        old = [proxy.now()]
        with Load(proxy.url, count_tokens(pool.token), rate=amount(50, 200)) as load:
            for _ in range(RESTARTS):
                said = restart.renewed(proxy.place, proxy.asked())
                old.append(proxy.now())
                assert said.startswith(f"restarted, on {proxy.url} (pid {old[-1].pid})")
            answered = load.answered
            until(lambda: load.answered > answered, "the last one serves")
        assert not load.failed, load.failed
        assert load.answered > amount(40, 100)
        assert len({one.pid for one in old}) == RESTARTS + 1
        for one in old[1:-1]:
            gone(one)
        pool.upstream.release("body")
        _whole(replies)
        gone(old[0])
        with pool.client() as client:
            client.send(pool.turn())
            _whole([client.begin()])


def test_what_the_old_one_still_learns_the_new_one_knows(tmp_path: Path) -> None:
    """A conversation whose first answer ends after the handover sticks where it was served."""
    with living(tmp_path, "work") as (pool, proxy), ExitStack() as stack:
        (reply,) = _begun(pool, stack, 1)
        old = proxy.now()
        restart.renewed(proxy.place, proxy.asked())
        assert proxy.status()["conversations"] == 0
        pool.upstream.release("body")
        _whole([reply])
        gone(old)
        until(lambda: proxy.status()["conversations"] == 1, "it is known")


def _followed_twice(pool: Pool, proxy: Living, stack: ExitStack) -> tuple[Reply, Running]:
    """A stream that has begun, and who still answers it when the one after has ended, too."""
    (reply,) = _begun(pool, stack, 1)
    first = proxy.now()
    restart.renewed(proxy.place, proxy.asked())
    second = proxy.now()
    restart.renewed(proxy.place, proxy.asked())
    gone(second)
    return reply, first


def test_also_the_one_after_the_next_knows_it(tmp_path: Path) -> None:
    """The first one still answers when the second one has ended long since."""
    with living(tmp_path, "work") as (pool, proxy), ExitStack() as stack:
        reply, first = _followed_twice(pool, proxy, stack)
        pool.upstream.release("body")
        _whole([reply])
        gone(first)
        until(lambda: proxy.status()["conversations"] == 1, "it is known")


@pytest.mark.parametrize("now", [False, True])
def test_a_stop_ends_those_before_as_well(tmp_path: Path, now: bool) -> None:
    """Also where one between has ended: nobody else would stop them. Their requests are answered first, or cut as any other."""
    with living(tmp_path, "work") as (pool, proxy), ExitStack() as stack:
        reply, first = _followed_twice(pool, proxy, stack)
        said: list[str] = []

        def say(line: str) -> None:
            said.append(line)
            assert running.is_there(first)
            if not now:
                pool.upstream.release("body")

        stop.end(proxy.place, now=now, say=say)
        assert said == [f"with it end those before it, which still answer what they had begun: pid {first.pid}"]
        assert not running.is_there(first)
        if now:
            assert reply.rest().events[-1].name == "error"
            pool.upstream.release("body")
        else:
            _whole([reply])


def test_a_successor_that_dies_leaves_the_old_one_serving(tmp_path: Path) -> None:
    """Why is told to who asked, and is in the log; a stream goes on, and so do its connections."""
    with living(tmp_path, "work") as (pool, proxy), ExitStack() as stack, socket.socket() as holder:
        (reply,) = _begun(pool, stack, 1)
        old = proxy.now()
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        config = (proxy.home / "config.toml").read_text()
        (proxy.home / "config.toml").write_text(config.replace("127.0.0.1:0", f"127.0.0.1:{port}", 1))
        with pytest.raises(Failure, match=f"127.0.0.1:{port} is taken by .*pid {os.getpid()}"):
            restart.renewed(proxy.place, proxy.asked())
        proxy.wait_log("no restart: (.*)")
        assert proxy.now() == old
        pool.upstream.release("body")
        _whole([reply])
        with pool.client() as client:
            client.send(pool.turn())
            _whole([client.begin()])


@pytest.mark.parametrize("text", ["listen = 3\n", "[listen]\nclaude = 'nowhere'\n"])
def test_a_broken_config_restarts_nothing(tmp_path: Path, text: str) -> None:
    """The fault is answered without a new process, and said once in the log, though the file is looked at all the time."""
    with living(tmp_path, "work") as (pool, proxy):
        old = proxy.now()
        (proxy.home / "config.toml").write_text(text)
        with pytest.raises(Failure, match="listen"):
            restart.renewed(proxy.place, proxy.asked())
        proxy.wait_log("config.toml is not taken up: (.*)")
        assert pool.ask(pool.turn()).status == 200
        assert proxy.now() == old
        (notice,) = [one for one in proxy.status()["notices"] if "not taken up" in one]
        assert "listen" in notice


def test_a_changed_config_is_taken_up_by_itself(tmp_path: Path) -> None:
    """Another process serves by what the file says now; the same said in other words changes nothing but what is known of the file."""
    with living(tmp_path, "work") as (pool, proxy):
        old, path = proxy.now(), proxy.home / "config.toml"
        path.write_text(path.read_text() + "\n# nothing\n")
        until(lambda: proxy.now().config != old.config, "it is known that the file says the same")
        assert proxy.now().pid == old.pid
        path.write_text(path.read_text().replace("[retry]", '[routing]\nstrategy = "perishing"\n\n[retry]'))
        until(lambda: proxy.now().pid != old.pid, "another process serves")
        gone(old)
        assert proxy.status()["strategy"] == "perishing"
        assert pool.ask(pool.turn()).status == 200
        assert proxy.log_text().count("config.toml was changed") == 1


def test_a_new_address_is_listened_on_and_the_old_one_left(tmp_path: Path) -> None:
    """Whoever still asks at the old address is refused, and does not wait for ever."""
    with living(tmp_path, "work") as (pool, proxy), ExitStack() as stack:
        (reply,) = _begun(pool, stack, 1)
        old, path = proxy.now(), proxy.home / "config.toml"
        path.write_text(path.read_text().replace("127.0.0.1:0", "127.0.0.2:0", 1))
        until(lambda: proxy.now().pid != old.pid, "another process serves")
        address = str(proxy.now().listen["claude"])
        assert address.startswith("127.0.0.2:")
        until(lambda: not _accepts(pool.proxy.url), "the old address is left")
        pool.upstream.release("body")
        _whole([reply])
        gone(old)
        proxy.url = f"http://{address}"


def _accepts(url: str) -> bool:
    try:
        with Client(url) as client:
            return client.socket is not None
    except ConnectionRefusedError:
        return False


# Stopping


def _started(folder: Path, stack: ExitStack, program: Program) -> Pool:
    if program == "flowpool serve":
        return stack.enter_context(living(folder, "work"))[0]
    members, client = ranked("work"), plant("client")
    upstream = stack.enter_context(Upstream({"work": token(members[0]), "client": client}))
    proxy = Proxy(folder, upstream, members, program=program, told_mode=True, settings={"limits": PATIENT})
    return Pool(upstream, stack.enter_context(proxy), client)


@pytest.mark.parametrize("program", ["flowpool serve", "mitmdump", "mitmweb"])
def test_a_stop_answers_what_is_in_flight(tmp_path: Path, program: Program) -> None:
    """Nobody else is accepted, the stream goes on to its end, its connection is closed, and the program ends with 0."""
    with ExitStack() as stack:
        pool = _started(tmp_path, stack, program)
        (reply,) = _begun(pool, stack, 1)
        idle = stack.enter_context(pool.client())
        assert idle.ask(count_tokens(pool.token)).status == 200
        os.kill(pool.proxy.pid, signal.SIGTERM)
        assert idle.take(1) == b""
        until(lambda: not _accepts(pool.proxy.url), "nobody is accepted")
        assert reply.end is None
        pool.upstream.release("body")
        _whole([reply])
        assert reply.client.take(1) == b""
        assert pool.proxy._process is not None
        assert pool.proxy._process.wait(20) == 0
        assert not (pool.proxy.home / "running.json").exists()


def test_a_second_signal_ends_at_once(tmp_path: Path) -> None:
    """The stream is told so, by the event after which its client tries again."""
    with living(tmp_path, "work") as (pool, proxy), ExitStack() as stack:
        (reply,) = _begun(pool, stack, 1)
        os.kill(proxy.pid, signal.SIGINT)
        until(lambda: not _accepts(proxy.url), "it stops")
        assert reply.end is None
        os.kill(proxy.pid, signal.SIGTERM)
        assert reply.rest().end == "whole"
        last = reply.events[-1].json
        assert (last["error"]["type"], last["error"]["message"]) == ("overloaded_error", "flowpool was stopped")
        assert proxy._process is not None
        assert proxy._process.wait(20) == 0
        assert pool.upstream.open_connections == 0
        pool.upstream.release("body")


def test_who_presses_ctrl_c_again_and_again_gets_a_clean_end(tmp_path: Path) -> None:
    """X110: whatever it is doing by then, no trace is shown, and the end is a good one."""
    with living(tmp_path, "work") as (pool, proxy), ExitStack() as stack:
        (reply,) = _begun(pool, stack, 1)
        assert proxy._process is not None
        while running.read(proxy.place.running) is not None:
            proxy._process.send_signal(signal.SIGINT)
        for _ in range(100):
            proxy._process.send_signal(signal.SIGINT)
        assert proxy._process.wait(20) == 0
        assert reply.rest().events[-1].name == "error"
        pool.upstream.release("body")


def test_a_stop_waits_no_longer_than_it_was_told(tmp_path: Path) -> None:
    """What is still open after [limits] drain_s is cut: a stream by an error event, what has no answer yet by one of our own."""
    with living(tmp_path, "work", settings={"limits": {"drain_s": 0.3}}) as (pool, proxy), ExitStack() as stack:
        (reply,) = _begun(pool, stack, 1)
        pool.upstream.script("work", ok().late("head"))
        waiting = stack.enter_context(pool.client())
        waiting.send(pool.turn())
        pool.upstream.wait_held("head")
        os.kill(proxy.pid, signal.SIGTERM)
        assert reply.rest().events[-1].name == "error"
        answer = waiting.begin().rest()
        assert (answer.status, answer.end) == (503, "whole")
        assert answer.header("x-should-retry") is None
        gone_by(proxy)
        pool.upstream.release("head")
        pool.upstream.release("body")


def gone_by(proxy: Living) -> None:
    """Return when the first process has ended well."""
    assert proxy._process is not None
    assert proxy._process.wait(20) == 0


def test_a_request_that_waits_inside_is_answered_at_once(tmp_path: Path) -> None:
    """Own answer I: an honest 503 that may be tried again, rather than a drain that lasts as long as the wait."""
    with living(tmp_path, "work", settings={"wait": {"max": 100}}) as (pool, proxy), pool.client() as client:
        pool.upstream.script("work", limit("5h", resets_in=90))
        client.send(pool.turn())
        until(lambda: proxy.holds("work") != [], "it waits")
        os.kill(proxy.pid, signal.SIGTERM)
        answer = client.begin().rest()
        assert (answer.status, answer.end) == (503, "whole")
        assert answer.error == ("api_error", "flowpool is about to end, and took the request no further; try again")
        assert (answer.header("x-should-retry"), answer.header("connection")) == (None, "close")
        gone_by(proxy)
        assert json.loads(proxy.wait_log(r'(\{"at":.*\})'))["answer"] == "I"


def test_who_watches_the_drain_is_told_how_far_it_is(tmp_path: Path) -> None:
    """On a connection that was there before, for a new one is not accepted; until the process has gone."""
    with living(tmp_path, "work") as (pool, proxy), ExitStack() as stack:
        (reply,) = _begun(pool, stack, 1)
        connection = http.client.HTTPConnection(proxy.url.removeprefix("http://"), timeout=20)
        assert _health(connection) == (200, {"status": "ok", "pid": proxy.pid})
        key = proxy._key()
        connection.request("POST", "/_flowpool/stop", b"{}", {"x-flowpool-key": key})
        told = json.loads(connection.getresponse().read())
        assert told == {"stopping": True, "pid": proxy.pid, "in_flight": 1, "within": 60.0}
        until(lambda: not _accepts(proxy.url), "it stops")
        assert _health(connection) == (503, {"status": "draining", "pid": proxy.pid, "in_flight": 1})
        pool.upstream.release("body")
        _whole([reply])
        gone_by(proxy)
        connection.close()


def _health(connection: http.client.HTTPConnection) -> tuple[int, Any]:
    connection.request("GET", "/_flowpool/health")
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def test_a_restart_by_hand_of_a_program_of_mitmproxys_is_refused(make: Make) -> None:
    """Nobody knows how it was started; the word says what to do."""
    pool = make("work")
    connection = http.client.HTTPConnection(pool.proxy.url.removeprefix("http://"), timeout=20)
    connection.request("POST", "/_flowpool/restart", b"{}", {"x-flowpool-key": pool.proxy._key()})
    answer = connection.getresponse()
    said = json.loads(answer.read())["error"]["message"]
    assert (answer.status, said) == (400, "it runs in mitmdump; stop it there and start it again")
    connection.close()
    assert pool.ask(pool.turn()).status == 200


# Who looks after it


def test_a_service_manager_is_told_who_serves(tmp_path: Path) -> None:
    """Ready when it accepts; after a restart the new process is the service; then that the service ends. Nobody else gets the word."""
    name = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(name))
        manager.settimeout(20)
        with living(tmp_path / "own", "work", env={"NOTIFY_SOCKET": str(name)}) as (_, proxy):
            assert manager.recv(999).startswith(b"READY=1\n")
            old = proxy.now()
            restart.renewed(proxy.place, proxy.asked())
            assert manager.recv(999).startswith(b"MAINPID=%d\nREADY=1\n" % proxy.now().pid)
            gone(old)
            proxy.end()
            assert manager.recv(999).startswith(b"STOPPING=1\n")
        manager.setblocking(False)
        with pytest.raises(BlockingIOError):
            manager.recv(999)


def test_under_launchd_the_same_process_starts_anew(tmp_path: Path) -> None:
    """It answers what is in flight first; who comes meanwhile waits in the socket, and nobody is refused."""
    with living(tmp_path, "work", env={"FLOWPOOL_SERVICE": "launchd"}) as (pool, proxy), ExitStack() as stack:
        (reply,) = _begun(pool, stack, 1)
        old = proxy.now()
        connection = http.client.HTTPConnection(proxy.url.removeprefix("http://"), timeout=60)
        connection.request("POST", "/_flowpool/restart", b"{}", {"x-flowpool-key": proxy._key()})
        told = json.loads(connection.getresponse().read())
        assert told == {"pid": old.pid, "in_place": True, "within": 60.0}
        pool.upstream.default("work", ok("Later"))
        waiting = stack.enter_context(pool.client())
        waiting.send(pool.turn())
        pool.upstream.release("body")
        _whole([reply])
        connection.close()
        answer = waiting.begin(60).rest()
        assert (answer.status, answer.text) == (200, "Later")
        new = proxy.now()
        assert (new.pid, new.born, new.started > old.started) == (old.pid, old.born, True)


def test_at_a_terminal_the_shell_goes_on_waiting(tmp_path: Path) -> None:
    """The process that it started stays until the one that serves has ended; Ctrl-C reaches that one."""
    with living(tmp_path, "work") as (_, proxy):
        proxy.end()
        config = (proxy.home / "config.toml").read_text()
        shown, terminal = os.openpty()
        command = [sys.executable, "-m", "flowpool", "serve"]
        with subprocess.Popen(
            command, env=proxy.env(), stdin=terminal, stdout=terminal, stderr=terminal, process_group=0, cwd=tmp_path
        ) as shell:
            os.close(terminal)
            until(lambda: running.read(proxy.place.running) is not None, "it serves")
            assert proxy.now().pid == shell.pid
            (proxy.home / "config.toml").write_text(config.replace("[retry]", '[log]\nlevel = "debug"\n\n[retry]'))
            until(lambda: proxy.now().pid != shell.pid, "another process serves")
            line = Path(f"/proc/{shell.pid}/cmdline")
            until(lambda: b"follow.py" in line.read_bytes(), "the first one only follows")
            assert shell.poll() is None
            serves = proxy.now()
            os.killpg(shell.pid, signal.SIGINT)
            assert shell.wait(20) == 0
            gone(serves)
        os.close(shown)


def test_a_websocket_does_not_hold_a_stop_up(tmp_path: Path) -> None:
    """It is told that we go away, on both sides, when the time is over."""
    client = plant("client")
    settings: dict[str, Any] = {"limits": {"drain_s": 0.3}}
    with WebSockets() as upstream:
        proxy = Proxy(tmp_path, upstream.url, ranked("work"), settings=settings, told_mode=True)
        with proxy, Client(proxy.url) as connection:
            login = (("authorization", f"Bearer {client}"),)
            ws = WebSocket(connection, "/v1/sessions/ws/one/subscribe", headers=login)
            assert ws.says("still here") == "still here"
            os.kill(proxy.pid, signal.SIGTERM)
            event = ws.next()
            assert isinstance(event, CloseConnection)
            assert (event.code, event.reason) == (1001, "flowpool stops")
            assert proxy._process is not None
            assert proxy._process.wait(20) == 0


def test_both_listeners_are_handed_on(tmp_path: Path) -> None:
    """A client that comes by HTTPS_PROXY is refused by nobody either."""
    forward = f"127.0.0.1:{closed_port()}"
    with living(tmp_path, "work", settings={"listen": {"claude": "127.0.0.1:0", "forward": forward}}) as (_, proxy):
        old = proxy.now()
        restart.renewed(proxy.place, proxy.asked())
        new = proxy.now()
        assert (new.listen, new.pid != old.pid) == (old.listen, True)
        assert str(new.listen["forward"]) == forward
        with Client(f"http://{forward}") as client:
            client.write(b"CONNECT 127.0.0.1:%d HTTP/1.1\r\n\r\n" % new.listen["claude"].port)
            assert client.begin(method="HEAD").status == 400
        gone(old)


def _is_free(address: str) -> bool:
    """Whether nobody listens there by UDP."""
    host, _, port = address.rpartition(":")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as found:
        try:
            found.bind((host, int(port)))
        except OSError:
            return False
    return True


def test_where_the_upstream_speaks_tls_the_address_is_kept(tmp_path: Path) -> None:
    """As the provider's own does: the next process has the very same socket, and nobody listens for HTTP/3 beside it."""
    listen = f"127.0.0.1:{closed_port()}"
    with Living(tmp_path, "https://127.0.0.1:9", ranked("work"), {"listen": {"claude": listen}}) as proxy:
        old = proxy.now()
        assert restart.renewed(proxy.place, proxy.asked()).startswith(f"restarted, on http://{listen}")
        assert (proxy.now().listen, proxy.now().pid != old.pid) == (old.listen, True)
        assert _is_free(listen)
        gone(old)


def test_mitmdump_opens_no_door_for_http3_either(tmp_path: Path) -> None:
    """Of its own it would, where the upstream is https."""
    listen = f"127.0.0.1:{closed_port()}"
    settings: dict[str, Any] = {"listen": {"claude": listen}}
    with Proxy(tmp_path, "https://127.0.0.1:9", ranked("work"), settings=settings, told_mode=True) as proxy:
        assert proxy.url == f"http://{listen}"
        assert _is_free(listen)


def test_of_a_file_that_is_saved_again_and_again_the_last_holds(tmp_path: Path) -> None:
    """Half-written ones among them: whoever serves in the end does what the file says, and no process is left."""
    with living(tmp_path, "work") as (pool, proxy):
        path, seen = proxy.home / "config.toml", [proxy.now()]
        text = path.read_text()
        for count in range(10):
            path.write_text(text[: len(text) // 2])
            path.write_text(
                text.replace("drain_s = 60", f"drain_s = {50 + count}") if count % 2 else f"{text}# {count}\n"
            )
            assert pool.ask(pool.turn()).status == 200
        path.write_text(text.replace("[retry]", '[routing]\nstrategy = "perishing"\n\n[retry]'))

        def settled() -> bool:
            if seen[-1] != (now := proxy.now()):
                seen.append(now)
            return bool(proxy.status()["strategy"] == "perishing")

        until(settled, "the last one holds")
        for one in {one.pid: one for one in seen}.values():
            if one.pid != proxy.now().pid:
                gone(one)
        assert pool.ask(pool.turn()).status == 200
