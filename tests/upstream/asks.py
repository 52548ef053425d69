"""Requests as clients write them: any HTTP/1.1 request, and those of Claude Code to the byte."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tests.upstream.answer import Headers


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request as it is written: header order and case are kept. chunked: sizes of the chunks to send instead."""

    method: str = "POST"
    path: str = "/v1/messages?beta=true"
    headers: Headers = ()
    body: bytes = b""
    chunked: int | None = None

    def head(self, host: str) -> bytes:
        """The request's head; Host and the body's framing are added unless the headers name them."""
        names = {name.lower() for name, _ in self.headers}
        lines = [f"{self.method} {self.path} HTTP/1.1", *(f"{name}: {value}" for name, value in self.headers)]
        if "host" not in names:
            lines.append(f"Host: {host}")
        if self.chunked:
            lines.append("Transfer-Encoding: chunked")
        elif "content-length" not in names and (self.body or self.method == "POST"):
            lines.append(f"Content-Length: {len(self.body)}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def pieces(self) -> Iterator[bytes]:
        """The body as it goes on the wire."""
        if not self.chunked:
            yield self.body
            return
        for at in range(0, len(self.body), self.chunked):
            piece = self.body[at : at + self.chunked]
            yield b"%x\r\n%b\r\n" % (len(piece), piece)
        yield b"0\r\n\r\n"

    def having(self, *headers: tuple[str, str]) -> Request:
        """With these headers, each in the place of the one of its name, else last."""
        new = {name.lower(): (name, value) for name, value in headers}
        kept = tuple(new.pop(pair[0].lower(), pair) for pair in self.headers)
        return replace(self, headers=(*kept, *new.values()))

    def without(self, *names: str) -> Request:
        """Without the headers of these names."""
        low = {name.lower() for name in names}
        kept = tuple(pair for pair in self.headers if pair[0].lower() not in low)
        return replace(self, headers=kept)


BETAS = (
    "claude-code-20250219,oauth-2025-04-20,interleaved-thinking-2025-05-14,context-management-2025-06-27,"
    "thinking-token-count-2026-05-13,advanced-tool-use-2025-11-20,effort-2025-11-24,extended-cache-ttl-2025-04-11"
)
_TOOLS = ("Bash", "Edit", "Glob", "Grep", "Read", "Task", "Write")


def turn(
    credential: str,
    *,
    model: str = "claude-opus-5-5",
    stream: bool = True,
    session: str | None = None,
    agent: str | None = None,
    prompt: str = "say hi",
    messages: list[dict[str, Any]] | None = None,
    path: str = "/v1/messages?beta=true",
    extra: Mapping[str, Any] | None = None,
) -> Request:
    """One model turn as Claude Code 2.1.332 sends it with `-p` (clients.md 1.3, 1.4), its body cut down to about 5 kB.

    session: None makes a new one, so that tests share no stickiness. credential: an API key rides in x-api-key.
    extra: further top-level fields of the body, or others in place of those here.
    """
    session = session or str(uuid.uuid4())
    body = _body(model, session=session, stream=stream, prompt=prompt, messages=messages) | dict(extra or {})
    oauth = not credential.startswith("sk-ant-api")
    betas = BETAS if oauth else BETAS.replace("oauth-2025-04-20,", "")
    key = ("Authorization", f"Bearer {credential}") if oauth else ("x-api-key", credential)
    headers = (
        ("Accept", "application/json"),
        key,
        ("Content-Type", "application/json"),
        ("User-Agent", "claude-cli/2.1.332 (external, sdk-cli)"),
        ("X-Claude-Code-Session-Id", session),
        ("X-Stainless-Arch", "x64"),
        ("X-Stainless-Lang", "js"),
        ("X-Stainless-OS", "Linux"),
        ("X-Stainless-Package-Version", "0.128.0"),
        ("X-Stainless-Retry-Count", "0"),
        ("X-Stainless-Runtime", "node"),
        ("X-Stainless-Runtime-Version", "v26.12.1"),
        ("X-Stainless-Timeout", "600" if stream else "300"),
        ("anthropic-beta", betas),
        ("anthropic-dangerous-direct-browser-access", "true"),
        ("anthropic-version", "2023-06-01"),
        ("x-app", "cli"),
        *((("x-claude-code-agent-id", agent),) if agent else ()),
        ("Connection", "keep-alive"),
        ("Accept-Encoding", "gzip, deflate, br, zstd"),
    )
    return Request(path=path, headers=headers, body=json.dumps(body, ensure_ascii=False).encode())


def count_tokens(credential: str, *, session: str | None = None, model: str = "claude-opus-5-5") -> Request:
    """A count of tokens, as /context asks for 25 at a time."""
    counted = turn(credential, model=model, session=session, path="/v1/messages/count_tokens?beta=true")
    kept = {name: value for name, value in json.loads(counted.body).items() if name in ("model", "messages", "tools")}
    return Request(path=counted.path, headers=counted.headers, body=json.dumps(kept).encode())


def startup_check(credential: str, *, model: str = "claude-opus-5-5") -> Request:
    """The client's check at start: one token, one message that says "quota", no system, no tools, no stream."""
    asked = turn(credential, model=model, stream=False)
    given = json.loads(asked.body)["metadata"]
    messages = [{"role": "user", "content": "quota"}]
    body = {"model": model, "max_tokens": 1, "messages": messages, "metadata": given}
    return Request(path=asked.path, headers=asked.headers, body=json.dumps(body).encode())


def _body(
    model: str, *, session: str, stream: bool, prompt: str, messages: list[dict[str, Any]] | None
) -> dict[str, Any]:
    user = {"device_id": "ab" * 32, "account_uuid": "", "session_id": session}
    kept = {"type": "ephemeral", "ttl": "1h"}
    reminder = "<system-reminder>\nToday is 2026-11-30. Grüße.\n</system-reminder>"
    first = [{"type": "text", "text": reminder}, {"type": "text", "text": prompt, "cache_control": kept}]
    return {
        "model": model,
        "messages": messages or [{"role": "user", "content": first}],
        "system": [
            {"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1.332.0b8; cc_entrypoint=sdk-cli;"},
            {
                "type": "text",
                "text": "You are a Claude agent, built on Anthropic's Claude Agent SDK.",
                "cache_control": kept,
            },
            {"type": "text", "text": "You help with software engineering. " * 60, "cache_control": kept},
        ],
        "tools": [_tool(name) for name in _TOOLS],
        "metadata": {"user_id": json.dumps(user, separators=(",", ":"))},
        "max_tokens": 128_000 if stream else 64_000,
        "thinking": {"type": "adaptive"},
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        "output_config": {"effort": "medium"},
        "stream": stream,
    }


def _tool(name: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    return {"name": name, "description": f"{name} does what its name says. " * 4, "input_schema": schema}
