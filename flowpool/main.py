"""The command `flowpool`: finds the subcommand, imports it alone, and turns every fault into one line."""

import importlib
import io
import os
import re
import sys
import traceback
from types import TracebackType
from typing import override

import click

from credentials.errors import CredentialError
from flowpool.errors import Failure
from home.errors import HomeError
from home.paths import Home

COMMANDS = {  # name: module:attribute; imported only when it is called, so that each stays quick
    "accounts": "flowpool.accounts:accounts",
    "add": "flowpool.add:add",
    "cap": "flowpool.cap:cap",
    "completion": "flowpool.completion:completion",
    "config": "flowpool.config:config",
    "connect": "flowpool.launch.connect:connect",
    "credentials": "flowpool.credentials:credentials",
    "disable": "flowpool.change:disable",
    "disconnect": "flowpool.launch.connect:disconnect",
    "doctor": "flowpool.doctor:doctor",
    "enable": "flowpool.change:enable",
    "env": "flowpool.env:env",
    "import": "flowpool.import_:import_",
    "lift": "flowpool.lift:lift",
    "link": "flowpool.launch.link:link",
    "login": "flowpool.login:login",
    "logs": "flowpool.logs:logs",
    "mitmdump": "flowpool.serve:mitmdump",
    "mitmweb": "flowpool.serve:mitmweb",
    "pin": "flowpool.pin:pin",
    "primary": "flowpool.primary:primary",
    "rank": "flowpool.change:rank",
    "refresh": "flowpool.refresh:refresh",
    "remove": "flowpool.remove:remove",
    "rename": "flowpool.change:rename",
    "requests": "flowpool.requests:requests",
    "reserve": "flowpool.reserve:reserve",
    "restart": "flowpool.restart:restart",
    "run": "flowpool.launch.run:run",
    "serve": "flowpool.serve:serve",
    "service": "flowpool.launch.service:service",
    "setup": "flowpool.launch.setup:setup",
    "simulate": "flowpool.simulate:simulate",
    "start": "flowpool.start:start",
    "status": "flowpool.status:status",
    "stop": "flowpool.stop:stop",
    "switch": "flowpool.switch:switch",
    "test": "flowpool.try_:test",
    "uninstall": "flowpool.uninstall:uninstall",
    "why": "flowpool.why:why",
}
MEANT = {  # what other programs call it
    "check": "doctor",
    "delete": "remove",
    "claude": "run",
    "diagnose": "doctor",
    "export": "accounts",
    "init": "setup",
    "install": "service",
    "launch": "run",
    "list": "accounts",
    "ls": "accounts",
    "rm": "remove",
    "settings": "config",
}
HELP = """Put one person's own coding accounts behind one local endpoint.

\b
To begin:
  flowpool login NAME                    once for each account
  flowpool run                           Claude Code, with the pool before it
  flowpool link                          or let the command claude do that
  flowpool status                        how the accounts stand
  flowpool doctor                        what is wrong, and what mends it

`flowpool COMMAND --help` tells more of each.
"""
FAILED = 1
MISUSED = 2

_SECRET = re.compile(  # what may be a token that was put where it must not be
    r"sk-[\w-]{4,}|[\w+/=.~-]{33,}"
)
_EXTRA = re.compile(r"Got unexpected extra argument(s?) \(.*\)", re.DOTALL)


class _Told(click.Context):
    """Shows how the command is used beside each misuse; click forgets that where an option lacks its value."""

    @override
    def __exit__(
        self, exc_type: type[BaseException] | None, exc_value: BaseException | None, tb: TracebackType | None
    ) -> bool | None:
        if isinstance(exc_value, click.UsageError) and exc_value.ctx is None:
            exc_value.ctx = self
        return super().__exit__(exc_type, exc_value, tb)


class Shell(click.Group):
    """The group of all commands."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command = getattr(importlib.import_module(module), name)
        assert isinstance(command, click.Command)  # noqa: S101  # the table above is wrong otherwise
        for one in (command, *(command.commands.values() if isinstance(command, click.Group) else ())):
            one.context_class = _Told
        return command

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            raise click.UsageError(_unknown(args[0]), ctx)
        return super().resolve_command(ctx, args)

    @override
    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.ClickException, click.Abort, EOFError):
            raise
        except BrokenPipeError:  # whoever reads has enough, as `head` does
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is flushed at the end
            raise SystemExit(FAILED) from None
        except Exception as error:  # noqa: BLE001  # the rim: nothing above this would show it better
            if ctx.params["verbose"]:
                traceback.print_exc()
            for line in _message(error).splitlines():
                click.echo(f"flowpool: {line}", err=True)
            raise SystemExit(
                error.exit_code if isinstance(error, HomeError | CredentialError | Failure) else FAILED
            ) from None


def _unknown(name: str) -> str:
    """Answer a command that there is not."""
    from home.checks import nearest  # noqa: PLC0415

    near = MEANT.get(name) or nearest(name.lower(), COMMANDS)
    shown = name if name.isprintable() else "(hidden)"
    hint = f"did you mean {near}?" if near else f"there are: {', '.join(COMMANDS)}"
    return f"there is no command {shown}; {hint}"


def _message(error: Exception) -> str:
    if isinstance(error, CredentialError | HomeError | Failure):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        name = error.filename
        return f"{name}: {error.strerror}; run: ls -ld '{name}'" if isinstance(name, str) else error.strerror
    return f"a fault of flowpool's own, {type(error).__name__}; run it as flowpool -v to see where"


def _too_many(found: re.Match[str]) -> str:
    if found[1]:
        return "Too many arguments (not shown: they may be secrets)"
    return "One argument too many (not shown: it may be a secret)"


def _show_version(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        from home.version import version  # noqa: PLC0415

        click.echo(f"flowpool {version()}")
        ctx.exit()


@click.group(cls=Shell, help=HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("-v", "--verbose", is_flag=True, help="Show the trace of a failure.")
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
@click.pass_context
def flowpool(ctx: click.Context, verbose: bool) -> None:
    """Put one person's own coding accounts behind one local endpoint."""
    del verbose  # Shell.invoke reads it
    ctx.obj = Home.find(os.environ)


def main() -> None:
    """Run the command line of this process."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a console that cannot show a letter must not end the program
    try:
        code = flowpool.main(prog_name="flowpool", standalone_mode=False)
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        click.echo(
            _SECRET.sub("(hidden)", _EXTRA.sub(_too_many, shown.getvalue())), err=True, nl=False
        )  # it quotes what was typed
        sys.exit(error.exit_code)
    except (click.Abort, EOFError, KeyboardInterrupt):
        click.echo("flowpool: stopped", err=True)
        sys.exit(FAILED)
    sys.exit(code if isinstance(code, int) else 0)
