"""How mitmproxy is started for us, and how it says that it accepts.

Longer than 250 lines: one module's tests stand in its one test file, as tests/test_tree.py wants it.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mitmproxy import ctx, options
from mitmproxy.proxy.mode_specs import ProxyMode

from addons import options as ours
from addons.options import RESTARTED, Options, apply_defaults, ensure_modes, upstreams
from addons.refusing import StartError
from home import processes, running
from home.checks import Address
from home.paths import Home
from home.running import Running
from home.tables import Anthropic, Listen, Providers, Settings
from tests.flowpool.living import place

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


# Where clients come by HTTPS_PROXY

FORWARD = Address(host="127.0.0.1", port=3458)
BOTH = Settings(listen=Listen(forward=FORWARD))


@pytest.mark.parametrize(
    ("listen", "mode"),
    [(FORWARD, "regular@127.0.0.1:3458"), (Address(host="::1", port=3458), "regular@::1:3458")],
)
def test_both_modes_are_given(
    opts: options.Options, restarts: list[tuple[str, list[str], dict[str, str]]], listen: Address, mode: str
) -> None:
    """The second one is what is recognised as ours; -p is the reverse proxy's port."""
    opts.update(listen_port=8123)
    with pytest.raises(Restarted):
        ensure_modes(Settings(listen=Listen(forward=listen)))
    reverse = "reverse:https://api.anthropic.com@127.0.0.1:8123"
    assert restarts[0][1][-4:] == ["--mode", reverse, "--mode", mode]
    assert ours.is_forward(ProxyMode.parse(mode), listen)
    assert not ours.is_forward(ProxyMode.parse(reverse), listen)
    assert not ours.is_forward(ProxyMode.parse(mode), None)


@pytest.mark.usefixtures("opts")
def test_two_listeners_on_one_address_are_refused(restarts: list[Any]) -> None:
    """Also on port 0, which mitmproxy takes once."""
    for port in (0, 3456):
        at = Address(host="127.0.0.1", port=port)
        with pytest.raises(StartError, match=r"\[listen\] claude and forward"):
            ensure_modes(Settings(listen=Listen(claude=at, forward=at)))
    assert restarts == []


@pytest.mark.usefixtures("opts")
def test_the_setting_of_an_address_that_is_taken_is_named(restarts: list[Any]) -> None:
    """It is the second one's."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = Address(host="127.0.0.1", port=other.getsockname()[1])
        with pytest.raises(StartError, match=r"set another address: \[listen\] forward in config.toml"):
            ensure_modes(Settings(listen=Listen(claude=Address(host="127.0.0.1", port=0), forward=taken)))
    assert restarts == []


def test_both_addresses_are_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, opts: options.Options, tmp_path: Path
) -> None:
    """With the certificate to trust, which is made by then; the one that is open to others is said."""
    listen = Address(host="0.0.0.0", port=0)
    opts.update(confdir=str(tmp_path / "ca"))
    listening(
        monkeypatch,
        (OURS, (("127.0.0.1", 9),)),
        ("regular@127.0.0.1:8080", (("127.0.0.1", 8080),)),
        ("regular@0.0.0.0:0", (("0.0.0.0", 3458),)),
    )
    known: list[set[str]] = []
    keeper = ctx.master.addons.get("proxyserver")
    tls = SimpleNamespace(configure=known.append)
    monkeypatch.setattr(ctx.master.addons, "get", {"proxyserver": keeper, "tlsconfig": tls}.get)
    home = Home(config_folder=tmp_path, state_folder=tmp_path)
    said: list[str] = []

    Options(home, Settings(listen=Listen(forward=listen)), said.append).running()
    ca = str(tmp_path / "ca" / "mitmproxy-ca-cert.pem")
    assert "HTTPS_PROXY=http://0.0.0.0:3458" in said[0]
    assert ca in said[0]
    assert said[1:] == ["flowpool: listening on http://127.0.0.1:9"]
    assert known == [{"confdir"}]
    document = json.loads(home.running.read_text())
    assert (document["listen"], document["ca"]) == ({"claude": "127.0.0.1:9", "forward": "0.0.0.0:3458"}, ca)
    (line,) = caplog.messages
    assert "set [listen] forward in config.toml" in line


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


@pytest.mark.parametrize("left", ["another's", "none", "its own"])
def test_one_that_was_to_be_followed_is_found_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, left: str) -> None:
    """After the other one failed, which has written its own word, or taken it away."""
    home = place(tmp_path)
    monkeypatch.setattr(ctx, "options", SimpleNamespace(confdir=str(tmp_path)), raising=False)
    made = Options(home, Settings(), lambda _: None)
    made.again()
    assert not home.running.exists()  # it never served
    made._announce(Address(host="127.0.0.1", port=9), None)
    told = running.read(home.running)
    assert told is not None
    home.config.write_text("# the same in other words\n")
    made.taken_up(running.digest(home.config))
    if left == "another's":
        with subprocess.Popen([sys.executable, "-I", "-c", ""]) as child:
            other = Running(pid=child.pid, listen=told.listen, started=told.started, born=processes.born(child.pid))
        running.write(home.running, other)
    elif left == "none":
        home.running.unlink()
    made.again()
    found = running.read(home.running)
    assert found is not None
    assert (found.pid, found.born, found.config) == (os.getpid(), told.born, running.digest(home.config))


def test_what_was_read_once_is_started_with(tmp_path: Path) -> None:
    """A file that is saved between two looks at it would else have half of the proxy serve what the other half does not know."""
    home = place(tmp_path)
    home.config.write_text("[listen]\nclaude = '127.0.0.1:4001'\n")
    first = ours.chosen(home)
    ours.keep(home, first)
    home.config.write_text("[listen]\nclaude = '127.0.0.1:4002'\n")
    assert ours.chosen(home) is first
    assert ours.chosen(home).listen.claude.port == 4002
