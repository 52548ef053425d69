"""Options: how mitmproxy is started for us, and the word that it accepts requests.

`mitmdump -s addons/pool.py` needs no flag. A mode cannot be set once mitmproxy is loading scripts (its servers are already being
started), so when none was given the same program is started again, in the same process, with the modes that flowpool needs.
"""

import logging
import os
import sys
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import ruamel.yaml
from mitmproxy import ctx, exceptions, optmanager
from mitmproxy.net import server_spec
from mitmproxy.proxy.mode_specs import ProxyMode, ReverseMode

from credentials.errors import FileFault
from credentials.loopback import is_loopback
from home import ports, running
from home.checks import Address
from home.paths import Home
from home.settings import Settings

RESTARTED = "FLOWPOOL_RESTARTED"
EVERYWHERE = ("", "0.0.0.0", "::")  # noqa: S104 - compared, not bound
_NAME = "mitm_config.yaml"


logger = logging.getLogger(__name__)


class StartError(Exception):
    """flowpool cannot start; the message is one line."""


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
    mode = mode_of(settings, listen)
    refuse_loop([mode])
    refuse_taken(listen)
    arguments = [sys.executable, *sys.orig_argv[1:], "--mode", mode]
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, arguments, {**os.environ, RESTARTED: "1"})  # noqa: S606 - no shell, our own program


def _has_mode() -> bool:
    """Whether the user gave a mode, be it the one that is mitmproxy's default."""
    return any(name == "mode" and option.value is not optmanager.unset for name, option in ctx.options.items())


def mode_of(settings: Settings, listen: Address) -> str:
    """The mode in which mitmproxy stands in for the provider."""
    return f"reverse:{settings.providers.anthropic.upstream}@{listen.host}:{listen.port}"  # no brackets around IPv6


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


def refuse_taken(listen: Address) -> None:
    """Say who has the address, or why nobody can; mitmproxy would only repeat the system's error."""
    if why := ports.unfit(listen):
        raise StartError(
            f"nobody can listen on {listen} here: {why}; set another address: [listen] claude in config.toml"
        )
    if ports.is_taken(listen):
        raise StartError(
            f"{listen} is taken by {ports.owner(listen.port)}; stop it, or set another address:"
            " [listen] claude in config.toml"
        )


def refuse_loop(modes: Iterable[str]) -> None:
    """Say that an upstream is where we listen ourselves: each request would come back to us."""
    for mode in map(ProxyMode.parse, modes):
        if isinstance(mode, ReverseMode):
            host, port = mode.address
            listen = mode.listen_host(ctx.options.listen_host), mode.listen_port(ctx.options.listen_port)
            if port == listen[1] and _meet(host, listen[0]):
                raise StartError(
                    f"the upstream {host}:{port} is this proxy itself; set [providers.anthropic] upstream in config.toml"
                    " to the provider's address"
                )


def _meet(host: str, listen: str) -> bool:
    """Whether who asks that host on this machine meets who listens there; no listen means everywhere."""
    return host == listen or (is_loopback(host) and (listen in EVERYWHERE or "localhost" in (host, listen)))


def refuse_second(home: Home) -> None:
    """One proxy per home: each would learn of limits alone, and hide the other from the command line."""
    other = running.read(home.running)
    if other is None or other.pid == os.getpid():
        return
    for address in other.listen.values():
        try:
            with urllib.request.urlopen(f"http://{address}/_flowpool/health", timeout=1):
                raise StartError(
                    f"a proxy runs already on {address} (pid {other.pid}); stop it first: kill {other.pid},"
                    " or give this one a FLOWPOOL_HOME of its own"
                )
        except OSError:
            continue


class Options:
    """Says when the proxy accepts requests, and where."""

    name = "flowpool_options"

    def __init__(self, home: Home, settings: Settings, say: Callable[[str], None]) -> None:
        """say: puts a line where starters and the log's readers see it."""
        self._home = home
        self._settings = settings
        self._say = say
        self._config = running.digest(home.config)  # right after it was read

    def running(self) -> None:
        """Write running.json, and one line on stderr."""
        listen = self._own_listener()
        if listen is None:
            upstream = self._settings.providers.anthropic.upstream
            self._say(f"flowpool: serving nobody: no mode given is flowpool's; use --mode reverse:{upstream}@HOST:PORT")
            return
        self._announce(listen)
        if not is_loopback(listen.host):
            logger.warning(
                "flowpool: %s is open to other machines, but only programs on this machine are answered;"
                " set [listen] claude in config.toml to 127.0.0.1:%d",
                listen,
                listen.port,
            )
        self._say(f"flowpool: listening on http://{listen}")

    def _announce(self, listen: Address) -> None:
        now = datetime.now(UTC)
        proxy = running.Running(pid=os.getpid(), listen={"claude": listen}, started=now, config=self._config)
        try:
            running.write(self._home.running, proxy)
        except FileFault as e:  # it serves all the same; only the command line cannot find it
            self._say(f"flowpool: {e}")

    def done(self) -> None:
        """Forget that the proxy runs."""
        running.remove(self._home.running, os.getpid())

    def listening(self) -> str:
        """The address that clients of Claude Code's kind reach, as host:port."""
        return str(self._own_listener() or self._settings.listen.claude)

    def _own_listener(self) -> Address | None:
        ours = upstreams(self._settings)["anthropic"]
        for server in ctx.master.addons.get("proxyserver").servers:
            mode = server.mode
            if isinstance(mode, ReverseMode) and (mode.scheme, *mode.address) == ours and server.listen_addrs:
                return Address(host=server.listen_addrs[0][0], port=server.listen_addrs[0][1])
        return None


def upstreams(settings: Settings) -> Mapping[str, tuple[str, str, int]]:
    """Scheme, host and port of each provider's upstream, by the provider's name."""
    scheme, address = server_spec.parse(settings.providers.anthropic.upstream, "https")
    return {"anthropic": (scheme, address[0], address[1])}
