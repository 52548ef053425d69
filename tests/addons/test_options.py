"""How mitmproxy is started for us, and how it says that it accepts.

Longer than 250 lines: one module's tests stand in its one test file, as tests/test_tree.py wants it.
"""

import contextlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mitmproxy import ctx, options
from mitmproxy.proxy.mode_specs import ProxyMode

from addons import options as ours
from addons.options import RESTARTED, Options, StartError, apply_defaults, ensure_modes, upstreams
from home import running
from home.checks import Address
from home.paths import Home
from home.tables import Anthropic, Listen, Providers, Settings

ADDED = {"connection_strategy": "eager", "keep_host_header": False}


class Restarted(Exception):  # noqa: N818
    """Stands for the program that takes our place."""


@pytest.fixture
def opts(monkeypatch: pytest.MonkeyPatch) -> options.Options:
    """The options of mitmproxy, with some that its addons bring."""
    made = options.Options()
    for name, default in ADDED.items():
        made.add_option(name, type(default), default, "")
    made.add_option("flow_detail", int, 1, "")
    made.add_option("proxy_debug", bool, False, "")
    monkeypatch.setattr(ctx, "options", made, raising=False)
    monkeypatch.delenv(RESTARTED, raising=False)
    return made


@pytest.fixture
def restarts(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[str], dict[str, str]]]:
    """Every restart that was asked for."""
    asked: list[tuple[str, list[str], dict[str, str]]] = []

    def execve(path: str, arguments: list[str], environ: dict[str, str]) -> None:
        asked.append((path, arguments, environ))
        raise Restarted

    monkeypatch.setattr(os, "execve", execve)
    monkeypatch.setattr(sys, "orig_argv", ["/usr/bin/python", "/bin/mitmdump", "-s", "addons/pool.py", "-q"])
    return asked


@pytest.fixture
def config(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], Path]:
    """A function that writes mitm_config.yaml."""
    path = tmp_path / "mitm_config.yaml"
    monkeypatch.setattr(ours, "_config_file", lambda: path)

    def write(text: str) -> Path:
        path.write_text(text)
        return path

    return write


# Modes

LISTENS = [
    (Settings(), None, "reverse:https://api.anthropic.com@127.0.0.1:3456"),
    (Settings(), 8123, "reverse:https://api.anthropic.com@127.0.0.1:8123"),
    (Settings(), 0, "reverse:https://api.anthropic.com@127.0.0.1:0"),
    (
        Settings(
            listen=Listen(claude=Address(host="::1", port=9)),
            providers=Providers(anthropic=Anthropic(upstream="http://127.0.0.1:8080")),
        ),
        None,
        "reverse:http://127.0.0.1:8080@::1:9",
    ),
]


@pytest.mark.parametrize(("settings", "port", "mode"), LISTENS)
def test_without_a_mode_the_program_starts_again_with_ours(
    opts: options.Options,
    restarts: list[tuple[str, list[str], dict[str, str]]],
    settings: Settings,
    port: int | None,
    mode: str,
) -> None:
    """The same program, its own arguments, and a reverse proxy to the provider; -p replaces the port."""
    opts.update(listen_port=port)

    with pytest.raises(Restarted):
        ensure_modes(settings)
    ((path, arguments, environ),) = restarts
    assert (path, arguments[0]) == (sys.executable, sys.executable)
    assert arguments[1:] == ["/bin/mitmdump", "-s", "addons/pool.py", "-q", "--mode", mode]
    assert environ == {**os.environ, RESTARTED: "1"}


@pytest.mark.parametrize("mode", ["reverse:https://api.anthropic.com", "regular", "regular@18098"])
@pytest.mark.parametrize("again", [False, True])
def test_a_mode_that_was_given_is_left_alone(
    opts: options.Options, restarts: list[Any], monkeypatch: pytest.MonkeyPatch, again: bool, mode: str
) -> None:
    """With a mode mitmproxy goes on; that it was started again is forgotten, so that a child may do so too."""
    if again:
        monkeypatch.setenv(RESTARTED, "1")
    opts.update(mode=[mode])

    ensure_modes(Settings())
    assert (restarts, RESTARTED in os.environ) == ([], False)


@pytest.mark.usefixtures("opts")
def test_nobody_starts_again_for_ever(restarts: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that was started again and still has no mode is a fault, told in one line."""
    monkeypatch.setenv(RESTARTED, "1")

    with pytest.raises(StartError, match="did not take the mode"):
        ensure_modes(Settings())
    assert restarts == []


LOOPS = [
    ("http://127.0.0.1:3456", "127.0.0.1:3456", True),
    ("https://localhost:3456", "127.0.0.1:3456", True),
    ("http://127.0.0.1:3456", "localhost:3456", True),
    ("http://[::1]:3456", "::1:3456", True),
    ("http://127.0.0.2:3456", "0.0.0.0:3456", True),
    ("http://[::1]:3456", ":::3456", True),
    ("http://localhost:3456", "3456", True),
    ("http://127.0.0.1:3457", "127.0.0.1:3456", False),
    ("http://127.0.0.2:3456", "127.0.0.1:3456", False),
    ("https://api.anthropic.com:3456", "0.0.0.0:3456", False),
    ("http://127.0.0.1:3456", "127.0.0.1:0", False),
]


@pytest.mark.usefixtures("opts")
@pytest.mark.parametrize(("upstream", "listen", "loops"), LOOPS)
def test_an_upstream_that_is_ourselves_is_refused(upstream: str, listen: str, loops: bool) -> None:
    """Each way to say it is seen before anything listens; another address of this machine is somebody else."""
    with pytest.raises(StartError, match="is this proxy itself") if loops else contextlib.nullcontext():
        ours.refuse_loop(["regular@3456", f"reverse:{upstream}@{listen}"])


@pytest.mark.parametrize("is_given", [False, True])
def test_an_upstream_that_is_ourselves_ends_the_start(
    opts: options.Options, restarts: list[Any], is_given: bool
) -> None:
    """Whether the settings say so or a mode that was given, also with the port that -p names."""
    opts.update(listen_port=9, **{"mode": ["reverse:http://127.0.0.1:9"]} if is_given else {})
    settings = Settings(providers=Providers(anthropic=Anthropic(upstream="http://localhost:9")))

    with pytest.raises(StartError, match="is this proxy itself"):
        ensure_modes(settings)
    assert restarts == []


# Defaults


def test_defaults_apply_where_nothing_was_given(opts: options.Options, config: Callable[[str], Path]) -> None:
    """mitm_config.yaml sets what the user did not; what the user set stays."""
    opts.update(flow_detail=3)
    config("connection_strategy: lazy\nkeep_host_header: true # why\nflow_detail: 0\nhttp2: false\n")

    apply_defaults()
    got = (opts.connection_strategy, opts.keep_host_header, opts.flow_detail, opts.http2)
    assert got == ("lazy", True, 3, False)


def test_an_option_of_another_program_is_passed_over(opts: options.Options, config: Callable[[str], Path]) -> None:
    """What only mitmweb or only mitmdump knows does not keep the other from starting."""
    config("web_columns: [x]\nhttp2: false\n")

    apply_defaults()
    assert opts.http2 is False


@pytest.mark.usefixtures("opts")
@pytest.mark.parametrize("text", ["", "# nothing\n", "{}\n"])
def test_an_empty_file_sets_nothing(config: Callable[[str], Path], text: str) -> None:
    """A file without options is none too."""
    config(text)

    apply_defaults()


@pytest.mark.usefixtures("opts")
@pytest.mark.parametrize(
    "text", ["[", "a: b: c", "http2: [1]\n", "flow_detail: lots\n", "just words\n", "[1, 2]\n", "http2: &a\n\x00"]
)
def test_a_file_that_makes_no_sense_is_one_line(config: Callable[[str], Path], text: str) -> None:
    """Whatever is wrong with the file, the message names it and is one line."""
    path = config(text)

    with pytest.raises(StartError) as met:
        apply_defaults()
    assert str(met.value).startswith(f"{path}: ")
    assert "\n" not in str(met.value)


@pytest.mark.usefixtures("opts")
def test_a_file_that_cannot_be_read_is_one_line(config: Callable[[str], Path]) -> None:
    """A file that is gone is told by its name."""
    path = config("")
    path.unlink()

    with pytest.raises(StartError, match=r"mitm_config\.yaml"):
        apply_defaults()


def test_nothing_starts_that_would_print_credentials(opts: options.Options, config: Callable[[str], Path]) -> None:
    """proxy_debug prints raw bytes, so flowpool does not start with it, whoever set it."""
    config("")
    opts.update(proxy_debug=True)

    with pytest.raises(StartError, match="proxy_debug"):
        apply_defaults()


def test_the_file_of_this_checkout_is_taken(opts: options.Options) -> None:
    """In a checkout the file stands in its root, and all that it sets is known to mitmproxy."""
    apply_defaults()

    assert (opts.connection_strategy, opts.keep_host_header, opts.http2, opts.flow_detail) == ("lazy", True, False, 0)


@pytest.mark.usefixtures("opts")
def test_the_wheels_own_copy_is_taken_where_there_is_no_checkout(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Installed, the file lies beside the addons."""
    (tmp_path / "addons").mkdir()
    beside = tmp_path / "addons" / "mitm_config.yaml"
    beside.write_text("")
    monkeypatch.setattr(ours, "__file__", str(tmp_path / "addons" / "options.py"))
    assert ours._config_file() == beside

    above = tmp_path / "mitm_config.yaml"
    above.write_text("")
    assert ours._config_file() == above


# Running


OURS = "reverse:https://api.anthropic.com"


def listening(monkeypatch: pytest.MonkeyPatch, *servers: tuple[str, tuple[Any, ...]]) -> None:
    """Let mitmproxy's servers listen: the mode of each, and its addresses."""
    made = [SimpleNamespace(mode=ProxyMode.parse(mode), listen_addrs=addresses) for mode, addresses in servers]
    keeper = SimpleNamespace(servers=made)
    master = SimpleNamespace(addons=SimpleNamespace(get={"proxyserver": keeper}.get))
    monkeypatch.setattr(ctx, "master", master, raising=False)


def saying(home: Home) -> tuple[Options, list[str]]:
    """The addon, and what it says."""
    said: list[str] = []
    return Options(home, Settings(), said.append), said


@pytest.mark.parametrize(
    ("host", "told"), [("0.0.0.0", "0.0.0.0:3999"), ("::", "[::]:3999"), ("192.0.2.1", "192.0.2.1:3999")]
)
def test_an_address_that_is_open_to_others_is_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path, host: str, told: str
) -> None:
    """Whoever listens beyond this machine is told that it serves nobody there, and what to set."""
    listening(monkeypatch, (OURS, ((host, 3999),)))
    saying(Home(config_folder=tmp_path, state_folder=tmp_path))[0].running()

    (line,) = caplog.messages
    assert line.startswith(
        f"flowpool: {told} is open to other machines, but only programs on this machine are answered"
    )
    assert line.endswith("set [listen] claude in config.toml to 127.0.0.1:3999")


@pytest.mark.parametrize(
    ("servers", "told"),
    [
        ([(OURS, (("127.0.0.1", 5001),))], "127.0.0.1:5001"),
        ([(OURS, (("::1", 7, 0, 0), ("127.0.0.1", 7)))], "[::1]:7"),
        ([("regular", (("127.0.0.1", 8080),)), (OURS, (("127.0.0.1", 9),))], "127.0.0.1:9"),
    ],
)
def test_the_real_address_is_told(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
    servers: list[tuple[str, tuple[Any, ...]]],
    told: str,
) -> None:
    """Once it accepts: one line, and running.json, both with the port that the system chose for our mode."""
    listening(monkeypatch, *servers)
    home = Home(config_folder=tmp_path, state_folder=tmp_path)
    home.config.write_text("# as it was read")
    addon, said = saying(home)
    digest = running.digest(home.config)
    home.config.write_text("# changed before it listens")

    addon.running()
    assert addon.listening() == told
    assert json.loads(home.running.read_text())["config"] == digest != running.digest(home.config)
    assert (said, caplog.messages) == ([f"flowpool: listening on http://{told}"], [])
    document = json.loads(home.running.read_text())
    assert (document["pid"], document["listen"]) == (os.getpid(), {"claude": told})

    addon.done()
    assert not home.running.exists()


@pytest.mark.parametrize("servers", [[], [(OURS, ())], [("reverse:https://other.example", (("127.0.0.1", 8),))]])
def test_without_a_server_of_ours_nobody_is_told_to_come(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, servers: list[Any]
) -> None:
    """Where no mode is ours the line says which one to give, and there is no running.json."""
    listening(monkeypatch, *servers)
    home = Home(config_folder=tmp_path, state_folder=tmp_path)
    addon, said = saying(home)

    addon.running()
    assert f"--mode {OURS}@HOST:PORT" in said[0]
    assert not home.running.exists()
    assert addon.listening() == "127.0.0.1:3456"


@pytest.mark.parametrize(
    ("upstream", "wanted"),
    [
        ("https://api.anthropic.com", ("https", "api.anthropic.com", 443)),
        ("http://127.0.0.1:8080", ("http", "127.0.0.1", 8080)),
        ("http://localhost", ("http", "localhost", 80)),
        ("https://[::1]:9", ("https", "::1", 9)),
    ],
)
def test_an_upstream_is_taken_apart(upstream: str, wanted: tuple[str, str, int]) -> None:
    """Scheme, host and port are those by which mitmproxy knows the mode."""
    assert upstreams(Settings(providers=Providers(anthropic=Anthropic(upstream=upstream)))) == {"anthropic": wanted}


def test_an_address_of_another_machine_is_not_called_taken() -> None:
    """Nobody has it here, and nobody can."""
    with pytest.raises(StartError, match=r"nobody can listen on 192\.0\.2\.7:1 here: .*; set another address"):
        ours.refuse_taken(Address(host="192.0.2.7", port=1))
