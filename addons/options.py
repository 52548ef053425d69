"""Options: how mitmproxy is started for us, and the word that it accepts requests.

`mitmdump -s addons/pool.py` needs no flag. A mode cannot be set once mitmproxy is loading scripts (its servers are already being
started), so when none was given the same program is started again, in the same process, with the modes that flowpool needs.
"""

import logging
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import ruamel.yaml
from mitmproxy import ctx, exceptions, optmanager
from mitmproxy.net import server_spec
from mitmproxy.proxy.mode_specs import ProxyMode, RegularMode, ReverseMode

from addons.authority import certificate, made
from addons.listeners import without_quic
from addons.refusing import StartError, refuse_all_taken, refuse_loop
from credentials.errors import FileFault
from credentials.loopback import is_loopback
from home import processes, running, settings
from home.checks import Address
from home.paths import Home
from home.running import Running
from home.settings import Settings

RESTARTED = "FLOWPOOL_RESTARTED"
_NAME = "mitm_config.yaml"
NOT_ANSWERED = "but only programs on this machine are answered"
BY_KEY = "and answers who shows the key: over plain http, so that whoever listens on the way reads it all"


logger = logging.getLogger(__name__)


def keep(home: Home, settings: Settings) -> None:
    """Have this process start with what was read of config.toml already: the file may have been changed since."""
    _KEPT[home.config] = settings


def chosen(home: Home) -> Settings:
    """What config.toml says, or said when it was kept. Raises SettingsError."""
    return _KEPT.pop(home.config, None) or settings.load(home.config)


_KEPT: dict[Path, Settings] = {}


def ensure_modes(settings: Settings) -> None:
    """Start mitmproxy again with our modes when the user gave none; does not return in that case."""
    restarted = os.environ.pop(RESTARTED, None)
    if _has_mode():
        refuse_loop(ctx.options.mode)
        return
    if restarted:
        raise StartError("mitmproxy did not take the mode that flowpool gave it")
    listen = settings.listen.claude
    if ctx.options.listen_port is not None:
        listen = Address(host=listen.host, port=ctx.options.listen_port)
    modes = modes_of(settings, listen)
    refuse_loop(modes)
    refuse_all_taken(settings, listen)
    arguments = [sys.executable, *sys.orig_argv[1:], *(part for mode in modes for part in ("--mode", mode))]
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, arguments, {**os.environ, RESTARTED: "1"})  # noqa: S606 - no shell, our own program


def _has_mode() -> bool:
    """Whether the user gave a mode, be it the one that is mitmproxy's default."""
    return any(name == "mode" and option.value is not optmanager.unset for name, option in ctx.options.items())


def mode_of(settings: Settings, listen: Address) -> str:
    """The mode in which mitmproxy stands in for the provider."""
    return f"reverse:{settings.providers.anthropic.upstream}@{listen.host}:{listen.port}"  # no brackets around IPv6


def modes_of(settings: Settings, listen: Address) -> list[str]:
    """All of our modes: that one, and where clients come by HTTPS_PROXY if some may."""
    forward = settings.listen.forward
    return [mode_of(settings, listen), *([] if forward is None else [f"regular@{forward.host}:{forward.port}"])]


def is_forward(mode: ProxyMode, listen: Address | None) -> bool:
    """Whether a mode is the one where clients come by HTTPS_PROXY: another regular proxy beside ours serves nobody."""
    return (
        listen is not None
        and isinstance(mode, RegularMode)
        and (mode.custom_listen_host, mode.custom_listen_port) == (listen.host, listen.port)
    )


def apply_defaults() -> None:
    """Apply mitm_config.yaml where the user gave nothing; what only another of mitmproxy's programs knows is passed over."""
    path = _config_file()
    try:
        found: Any = ruamel.yaml.YAML(typ="safe", pure=True).load(path.read_bytes())
        wanted = {k: v for k, v in dict(found or {}).items() if k in ctx.options and not _is_given(k)}
        ctx.options.update(**wanted)
    except (OSError, ValueError, TypeError, KeyError, ruamel.yaml.error.YAMLError, exceptions.OptionsError) as e:
        raise StartError(f"{path}: {' '.join(str(e).split())}") from e
    if ctx.options.proxy_debug:
        raise StartError("proxy_debug would print credentials: start without it")
    if not getattr(ctx.options, "validate_inbound_headers", True):
        raise StartError("validate_inbound_headers=false would let requests be smuggled in: start without it")


def _is_given(name: str) -> bool:
    """Whether the user set the option."""
    return bool(ctx.options.default(name) != getattr(ctx.options, name))


def _config_file() -> Path:
    """The file in a checkout's root, else the copy that the wheel carries."""
    here = Path(__file__).resolve().parent
    return next(path for path in (here.parent / _NAME, here / _NAME) if path.is_file())


class Options:
    """Says when the proxy accepts requests, and where."""

    name = "flowpool_options"

    def __init__(self, home: Home, settings: Settings, say: Callable[[str], None]) -> None:
        """say: puts a line where starters and the log's readers see it."""
        self._home = home
        self._settings = settings
        self._say = say
        self._config = running.digest(home.config)  # right after it was read
        self._told: Running | None = None

    def running(self) -> None:
        """Write running.json, and one line on stderr."""
        without_quic(ctx.master.addons.get("proxyserver").servers)
        listen = self._own_listener()
        if listen is None:
            upstream = self._settings.providers.anthropic.upstream
            self._say(f"flowpool: serving nobody: no mode given is flowpool's; use --mode reverse:{upstream}@HOST:PORT")
            return
        forward = self._forward_listener()
        if forward is not None:
            made(ctx.options.confdir)
        self._announce(listen, forward)
        _warn_of(listen, "claude", BY_KEY if self._settings.admit.key else NOT_ANSWERED)
        if forward is not None:
            _warn_of(forward, "forward", NOT_ANSWERED)
            ca = certificate(ctx.options.confdir)
            self._say(f"flowpool: clients come by HTTPS_PROXY=http://{forward}, and trust {ca} by NODE_EXTRA_CA_CERTS")
        self._say(f"flowpool: listening on http://{listen}")

    def _announce(self, listen: Address, forward: Address | None) -> None:
        proxy = Running(
            pid=os.getpid(),
            listen={"claude": listen} | ({} if forward is None else {"forward": forward}),
            started=datetime.now(UTC),
            config=self._config,
            born=processes.born(os.getpid()),
            ca="" if forward is None else str(certificate(ctx.options.confdir)),
        )
        self._told = proxy
        self._write(proxy)

    def _write(self, proxy: Running) -> None:
        try:
            running.write(self._home.running, proxy)
        except FileFault as e:  # it serves all the same; only the command line cannot find it
            self._say(f"flowpool: {e}")

    def again(self) -> None:
        """Let this proxy be found again, should one that was to follow it have said that it serves, and failed."""
        found = running.left(self._home.running)
        if self._told is not None and (found is None or found.pid != os.getpid()):
            self._write(replace(self._told, config=self._config))

    def taken_up(self, config: str) -> None:
        """Say that config.toml, of this digest by now, still says what holds."""
        found = running.read(self._home.running)
        if config != self._config and found is not None and found.pid == os.getpid():
            self._config = config
            with suppress(FileFault):  # the command line then says that it changed
                running.write(self._home.running, replace(found, config=config))

    def done(self) -> None:
        """Forget that the proxy runs."""
        running.remove(self._home.running, os.getpid())

    def listening(self) -> str:
        """The address that clients of Claude Code's kind reach, as host:port."""
        return str(self._own_listener() or self._settings.listen.claude)

    def _forward_listener(self) -> Address | None:
        """Where clients come by HTTPS_PROXY; None where none may."""
        for server in ctx.master.addons.get("proxyserver").servers:
            if is_forward(server.mode, self._settings.listen.forward) and server.listen_addrs:
                return Address(host=server.listen_addrs[0][0], port=server.listen_addrs[0][1])
        return None

    def _own_listener(self) -> Address | None:
        ours = upstreams(self._settings)["anthropic"]
        for server in ctx.master.addons.get("proxyserver").servers:
            mode = server.mode
            if isinstance(mode, ReverseMode) and (mode.scheme, *mode.address) == ours and server.listen_addrs:
                return Address(host=server.listen_addrs[0][0], port=server.listen_addrs[0][1])
        return None


def _warn_of(listen: Address, setting: str, answered: str) -> None:
    """Say that other machines reach an address of ours, and what becomes of them."""
    if not is_loopback(listen.host):
        logger.warning(
            "flowpool: %s is open to other machines, %s; set [listen] %s in config.toml to 127.0.0.1:%d",
            listen,
            answered,
            setting,
            listen.port,
        )


def upstreams(settings: Settings) -> Mapping[str, tuple[str, str, int]]:
    """Scheme, host and port of each provider's upstream, by the provider's name."""
    scheme, address = server_spec.parse(settings.providers.anthropic.upstream, "https")
    return {"anthropic": (scheme, address[0], address[1])}
