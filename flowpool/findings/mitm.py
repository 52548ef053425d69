"""Options in the user's own mitmproxy configuration that are dangerous to a proxy which signs requests.

`flowpool serve` does not read that file; mitmdump and mitmweb do, before any addon is loaded.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from credentials import files
from credentials.errors import CredentialError
from flowpool.findings.finding import Finding, editing, ok, warn

PART = "mitmproxy.yaml"
NAMES = ("config.yaml", "config.yml")
_CHANGES = "changes what was asked or answered"

type Rule = tuple[Callable[[Any], bool], str]


def _everywhere(value: Any) -> bool:
    return value in ("", "*", "0.0.0.0", "::")  # noqa: S104  # compared, not bound


def _is_false(value: Any) -> bool:
    return value is False


RULES: Mapping[str, Rule] = {  # option: when it is dangerous, and what it does
    "proxy_debug": (bool, "prints credentials, so mitmdump and mitmweb refuse to start with flowpool"),
    "validate_inbound_headers": (_is_false, "lets requests be smuggled in, so mitmdump and mitmweb refuse to start"),
    "keep_host_header": (_is_false, "hides from flowpool which host the client asked for"),
    "ssl_insecure": (bool, "lets anybody pose as the provider, and take the credentials"),
    "listen_host": (_everywhere, "opens the proxy to other machines"),
    "web_host": (_everywhere, "opens mitmweb, with every prompt in it, to other machines"),
    "save_stream_file": (bool, "writes every prompt and answer to a file"),
    "hardump": (bool, "writes every prompt and answer to a file"),
    "modify_body": (bool, _CHANGES),
    "modify_headers": (bool, _CHANGES),
    "map_local": (bool, _CHANGES),
    "map_remote": (bool, "sends requests, signed, elsewhere"),
    "server_replay": (bool, "answers from a recording"),
    "mode": (bool, "takes the place of flowpool's own mode"),
    "scripts": (bool, "loads further addons, which see every prompt"),
}


def options(folder: Path) -> list[Finding]:
    """One line for each dangerous option; folder: mitmproxy's own, ~/.mitmproxy."""
    found = [finding for name in NAMES for finding in _in_file(folder / name)]
    return found or [ok(PART, f"no dangerous option in {folder}")]


def _in_file(path: Path) -> Iterator[Finding]:
    try:
        data = files.read(path, private=False)
    except CredentialError:
        data = b"["
    if not data:
        return
    chosen = _read(data)
    if chosen is None:
        yield warn(PART, f"{path} cannot be read, or is not valid YAML", editing(path))
        return
    for name, (is_dangerous, does) in RULES.items():
        if name in chosen and is_dangerous(chosen[name]):
            yield warn(PART, f"{name} in {path}: it {does}", editing(path))


def _read(data: bytes) -> dict[str, Any] | None:
    import ruamel.yaml  # noqa: PLC0415  # comes with mitmproxy, and may be missing as that may

    try:
        found = ruamel.yaml.YAML(typ="safe", pure=True).load(data)
    except (ValueError, RecursionError, ruamel.yaml.error.YAMLError):
        return None
    return {} if found is None else found if isinstance(found, dict) else None
