"""Options of mitmproxy that are dangerous here are named, and their values are not."""

import sys
from pathlib import Path

import pytest

from flowpool.findings.finding import Level
from flowpool.findings.mitm import RULES, options

DANGEROUS = [
    "proxy_debug: true",
    "validate_inbound_headers: false",
    "keep_host_header: false",
    "ssl_insecure: true",
    "listen_host: 0.0.0.0",
    'listen_host: "::"',
    "listen_host: ''",
    "web_host: 0.0.0.0",
    "save_stream_file: /tmp/PLANTED",
    "hardump: PLANTED.har",
    "modify_body: [/a/PLANTED]",
    "modify_headers: [/~q/x-api-key/PLANTED]",
    "map_local: [/a/PLANTED]",
    "map_remote: [/a/PLANTED]",
    "server_replay: [PLANTED]",
    "mode: [regular]",
    "scripts: [PLANTED.py]",
]
HARMLESS = [
    "proxy_debug: false",
    "validate_inbound_headers: true",
    "ssl_insecure: false",
    "listen_host: 127.0.0.1",
    "web_host: 127.0.0.1",
    "save_stream_file: ''",
    "modify_headers: []",
    "mode: []",
    "http2: true",
    "block_global: null",
    "",
    "# nothing",
]


@pytest.mark.parametrize("text", DANGEROUS)
@pytest.mark.parametrize("name", ["config.yaml", "config.yml"])
def test_a_dangerous_option_is_named(tmp_path: Path, text: str, name: str) -> None:
    """With its file and the command that opens it; its value may be a secret."""
    (tmp_path / name).write_text(text)
    (found,) = options(tmp_path)

    assert found.level is Level.WARN
    assert found.message.startswith(f"{text.partition(':')[0]} in {tmp_path / name}: it ")
    assert found.mend.endswith(str(tmp_path / name))
    assert "PLANTED" not in found.message


def test_every_rule_has_its_case() -> None:
    """No rule is untried."""
    assert {text.partition(":")[0] for text in DANGEROUS} == set(RULES)


def test_each_dangerous_option_has_its_line(tmp_path: Path) -> None:
    """One file may have many."""
    (tmp_path / "config.yaml").write_text("ssl_insecure: true\nproxy_debug: true\nhttp2: false\n")

    assert len(options(tmp_path)) == 2


@pytest.mark.parametrize("text", HARMLESS)
def test_a_harmless_one_is_not(tmp_path: Path, text: str) -> None:
    """One line says that all is well; so it does without a file."""
    (tmp_path / "config.yaml").write_text(text)

    for folder in (tmp_path, tmp_path / "none"):
        (found,) = options(folder)
        assert found.level is Level.OK


@pytest.mark.parametrize("data", [b"a: [", b"- a", b"7", b"\xff\xff", b"!!python/object:os.system {}"])
def test_one_that_makes_no_sense_is_a_warning(tmp_path: Path, data: bytes) -> None:
    """The proxy itself will not start with it."""
    (tmp_path / "config.yaml").write_bytes(data)
    (found,) = options(tmp_path)

    assert "not valid YAML" in found.message


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such files")
def test_what_is_no_file_is_a_warning(tmp_path: Path) -> None:
    """Nothing waits for a pipe."""
    (tmp_path / "config.yaml").mkdir()

    assert options(tmp_path)[0].level is Level.WARN
