"""The unit of a systemd user service: its text, and what such a text says. Pure.

Fact: systemd.service(5), systemd.exec(5), systemd.syntax(7) of systemd 252.
"""

import re
from collections.abc import Mapping

from flowpool.launch.program import Program

MARK = "# Made by `flowpool service install`, which writes it anew; your own lines: systemctl --user edit flowpool"
UNIT = """\
{mark}
[Unit]
Description=flowpool: your coding accounts behind one local address
StartLimitIntervalSec=120
StartLimitBurst=10

[Service]
Type=notify
NotifyAccess=all
{environment}ExecStart={start}
ExecReload={reload}
Restart=on-failure
RestartSec=1
TimeoutStopSec={stop}
KillMode=mixed

[Install]
WantedBy=default.target
"""
STARTING = ("Type=", "NotifyAccess=", "Environment=", "ExecStart=")  # a change of these needs another process

_ESCAPED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "%": "%%"}
_RUN = re.compile(r"""[^\x00-\x1f\x7f'"\\$]*""")  # paths that systemd runs as they are
_LINE = re.compile(rb'^Environment="(.*)"$', re.MULTILINE)
_TAKEN = re.compile(rb"%%|\\x(?P<byte>[0-9a-f]{2})|\\(?P<letter>.)")
_PLAIN = {b"n": b"\n", b"t": b"\t", b"r": b"\r"}


def unit(program: Program) -> bytes:
    """Return the text of the unit."""
    text = UNIT.format(
        mark=MARK,
        environment="".join(
            f"Environment={quoted(f'{name}={value}')}\n" for name, value in program.environment.items()
        ),
        start=command(program.python, "serve"),
        reload=command(program.python, "restart"),
        stop=f"{program.stop_s:.10g}",
    )
    return text.encode(errors="surrogateescape")


def command(python: str, verb: str) -> str:
    """Return a line for ExecStart= that runs a command of flowpool; -P: what lies in the service's folder is no module of it.

    systemd runs no program whose path has quotes, backslashes or control characters, and takes a dollar sign in it for what it is
    while it replaces variables in the arguments: such a path is an argument, of a shell that becomes it.
    """
    shell = "" if _RUN.fullmatch(python) else """/bin/sh -c 'exec "$$0" "$$@"' """
    return f"{shell}{argument(python)} -P -m flowpool {verb}"


def argument(text: str) -> str:
    """Quote one word of a command line."""
    return quoted(text).replace("$", "$$")


def quoted(text: str) -> str:
    """Quote one word: what is no printable character is escaped, and a percent sign is no specifier."""
    return f'"{"".join(_ESCAPED.get(letter) or _safe(letter) for letter in text)}"'


def _safe(letter: str) -> str:
    """Escape what must not stand in a unit: control characters, and bytes of a path that are no text."""
    if letter.isprintable() or letter == " ":
        return letter
    return "".join(f"\\x{byte:02x}" for byte in letter.encode(errors="surrogateescape"))


def environment(text: bytes) -> Mapping[str, str] | None:
    """Return the variables that a unit of ours sets; None when it is not one."""
    if not text.startswith(MARK.partition(",")[0].encode()):
        return None
    pairs = (_unquoted(found).partition("=") for found in _LINE.findall(text))
    return {name: value for name, _, value in pairs}


def _unquoted(data: bytes) -> str:
    """Undo what quoted() did between its quotation marks."""

    def taken(found: re.Match[bytes]) -> bytes:
        if found["byte"]:
            return bytes.fromhex(found["byte"].decode())
        return _PLAIN.get(found["letter"], found["letter"]) if found["letter"] else b"%"

    return _TAKEN.sub(taken, data).decode(errors="surrogateescape")


def needs_restart(before: bytes, after: bytes) -> bool:
    """Tell whether a process that runs by one unit must be started anew to run by the other."""
    return _starting(before) != _starting(after)


def _starting(text: bytes) -> list[str]:
    return [line for line in text.decode(errors="surrogateescape").splitlines() if line.startswith(STARTING)]
