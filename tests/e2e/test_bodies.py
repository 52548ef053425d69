"""Whole exchanges in a folder: what a person finds there, and what is never there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.e2e.pool import CLIENT, Pool, open_pool, ranked, token
from tests.upstream import Text, bad_request, limit, ok, overloaded
from tests.upstream.asks import Request, count_tokens

NAME = re.compile(r"\d{8}-\d{6}\.\d{3}-([0-9a-f]{12})\.txt")


def bodies(folder: Path, **more: Any) -> dict[str, Any]:
    """Settings that keep whole exchanges in a folder of the test."""
    return {"log": {"bodies": str(folder), **more}}


def files(folder: Path) -> list[Path]:
    """What is there, oldest first."""
    return sorted(folder.iterdir())


def sections(path: Path) -> dict[str, str]:
    """A file's sections by their headings, times taken out."""
    parts = re.split(r"\n##### (.*)\n", path.read_text())
    headings = [re.sub(r"\d\d:\d\d:\d\d\.\d{3}", "T", heading) for heading in parts[1::2]]
    return {"": parts[0], **dict(zip(headings, parts[2::2], strict=True))}


def echo(pool: Pool) -> str:
    """Text in which every secret of the pool stands."""
    return " ".join([pool.token, *(token(member) for member in pool.proxy.members.values())])


def with_text(pool: Pool, text: str) -> Request:
    """A turn in whose body this text stands."""
    request = pool.turn()
    body = json.loads(request.body)
    body["messages"].append({"role": "user", "content": text})
    return Request(method=request.method, path=request.path, headers=request.headers, body=json.dumps(body).encode())


def test_a_request_that_was_moved_is_kept_whole(tmp_path: Path) -> None:
    """The request, each attempt with its account and answer, and the stream as the client got it; secrets nowhere, if echoed too."""
    folder = tmp_path / "kept" / "bodies"
    with open_pool(tmp_path, ranked("work", "home"), settings=bodies(folder)) as pool:
        pool.upstream.script("work", limit("7d"))
        pool.upstream.script("home", ok(Text(f"It is {echo(pool)}.")))
        request = with_text(pool, echo(pool))
        reply = pool.ask(request)
        (line,) = pool.proxy.requests(1)
        secrets = [pool.token, *(token(member) for member in pool.proxy.members.values())]

    (path,) = files(folder)
    assert NAME.fullmatch(path.name)[1] == line["id"]  # type: ignore[index]
    assert (path.stat().st_mode & 0o777, folder.stat().st_mode & 0o777) == (0o600, 0o700)
    text = path.read_bytes()
    assert not [secret for secret in secrets if secret.encode() in text]
    told = sections(path)
    summary, asked, refused, served, got = told.values()
    assert f"id: {line['id']}\n" in summary
    assert "account: home\n" in summary
    assert list(told)[2].startswith("attempt 1 on work, sent T, ended T: row 13, 7d limit until")
    assert list(told)[3].startswith("attempt 2 on home, sent T, ended T: row 8")
    assert asked.startswith("POST /v1/messages?beta=true\n")
    assert "authorization: [masked]\n" in asked.lower()
    body = json.loads(asked.partition("\n\n")[2])
    assert body == json.loads(re.sub("|".join(map(re.escape, secrets)), "[masked]", request.body.decode()))
    assert refused.startswith("429")
    assert "anthropic-ratelimit-unified-7d-utilization: 1" in refused
    assert '"rate_limit_error"' in refused
    assert served == "(its answer is what the client got)\n"
    stream = re.sub("|".join(map(re.escape, secrets)), "[masked]", reply.body.decode())
    assert got.partition("\n\n")[2] == stream


def test_only_what_the_pool_serves_is_kept(tmp_path: Path) -> None:
    """Counting is; catalogues, telemetry, other paths, our own and what is not let in are not."""
    folder = tmp_path / "bodies"
    with open_pool(tmp_path, ranked("work"), settings=bodies(folder)) as pool:
        for asked in ("/v1/models?limit=1000", "/api/event_logging/batch", "/_flowpool/health", "/v1/v1/messages"):
            pool.ask(Request(method="GET", path=asked, headers=pool.turn().headers, body=b""))
        pool.ask(pool.turn().having(("Origin", "http://evil.example")))
        pool.ask(count_tokens(pool.token))
        pool.upstream.requests.clear()

    (path,) = files(folder)
    assert sections(path)["the request"].startswith("POST /v1/messages/count_tokens")


def test_an_answer_that_is_whole_is_told_once(tmp_path: Path) -> None:
    """A refusal that is relayed, and one of our own, are what the client got."""
    folder = tmp_path / "bodies"
    with open_pool(tmp_path, ranked("work"), settings=bodies(folder) | {"wait": {"max": 0}}) as pool:
        pool.upstream.script("work", bad_request("messages: odd"), limit("7d"))
        pool.ask(pool.turn())
        pool.ask(pool.turn())

    first, second = map(sections, files(folder))
    assert "messages: odd" in list(first.values())[-1] + list(first.values())[-2]
    assert "No account may serve before" in second["the client got"]
    assert "answer: A\n" in second[""]


def test_a_stream_that_was_cut_is_kept_as_far_as_it_came(tmp_path: Path) -> None:
    """With the error event that ended it for the client."""
    folder = tmp_path / "bodies"
    with open_pool(tmp_path, ranked("work"), settings=bodies(folder)) as pool:
        pool.upstream.script("work", overloaded(), ok("x y z").cut("whole", after="content_block_delta"))
        reply = pool.ask(pool.turn())

    (path,) = files(folder)
    assert sections(path)["the client got"].partition("\n\n")[2] == reply.body.decode()
    assert "ended: cut\n" in sections(path)[""]


def test_a_refusal_that_a_waiting_client_got_is_told(tmp_path: Path) -> None:
    """As the last event of its stream, and after a wait each attempt's answer."""
    folder = tmp_path / "bodies"
    patient = {"wait": {"max": 30, "heartbeat": 0.2}}
    with open_pool(tmp_path, ranked("work"), settings=bodies(folder) | patient) as pool:
        pool.upstream.script("work", lambda _: limit("7d", resets_in=1, unit="ms", retry_after=None), limit("7d"))
        pool.ask(pool.turn())

    (path,) = files(folder)
    told = sections(path)
    assert [heading[:9] for heading in told if "attempt" in heading] == ["attempt 1", "attempt 2"]
    assert told["the client got"].startswith("200 OK\n")
    assert "event: error" in told["the client got"]
    assert "No account may serve before" in told["the client got"]


def test_long_bodies_are_kept_in_part(tmp_path: Path) -> None:
    """Their beginning, of the question and the answer alike, and how much there was."""
    folder = tmp_path / "bodies"
    with open_pool(tmp_path, ranked("work"), settings=bodies(folder, body_kib=2)) as pool:
        pool.upstream.script("work", ok(Text("word " * 20_000)))
        pool.ask(with_text(pool, "x" * 100_000))

    (path,) = files(folder)
    told = sections(path)
    assert path.stat().st_size < 10_000
    assert "(the first 2048 bytes; [log] body_kib keeps 2048)" in told["the request"]
    assert "(the first 2048 bytes; [log] body_kib keeps 2048)" in told["the client got"]


def test_a_folder_that_cannot_be_written_disturbs_nobody(tmp_path: Path) -> None:
    """It is said once, and requests go on."""
    (tmp_path / "taken").write_text("a file where the folder should be")
    with open_pool(tmp_path, ranked("work"), settings=bodies(tmp_path / "taken")) as pool:
        assert [pool.ask(pool.turn()).status for _ in range(3)] == [200] * 3
        pool.proxy.wait_log(r"\[log\] bodies: .* cannot be written: File exists; requests go on")
        log = pool.proxy.log_text()

    assert log.count("cannot be written") == 1


def test_without_the_setting_nothing_is_kept(tmp_path: Path) -> None:
    """No folder, no file, and what was said stands nowhere."""
    with open_pool(tmp_path, ranked("work")) as pool:
        pool.ask(with_text(pool, "a-word-that-nobody-else-says"))

    said = b"a-word-that-nobody-else-says"
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and said in path.read_bytes()]


def test_the_clients_own_way_is_kept_too(tmp_path: Path) -> None:
    """Without any account its requests for the pool's paths are passed on its own credential, which stands nowhere."""
    folder = tmp_path / "bodies"
    with open_pool(tmp_path, (), settings=bodies(folder)) as pool:
        assert pool.ask(with_text(pool, pool.token)).status == 200
        secret = pool.token

    (path,) = files(folder)
    assert secret not in path.read_text()
    assert f"account: {CLIENT}\n" in path.read_text()
