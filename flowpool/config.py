"""`flowpool config`: where the settings are, whether they are right, and what they come to."""

import json
from pathlib import Path
from typing import Any

import click

from credentials import files
from credentials.errors import Unreadable
from flowpool.arguments import pass_home
from flowpool.errors import WrongFileError
from home import outbound, running, settings, toml
from home.checks import Address
from home.paths import Home
from home.schema import SETTINGS, values_of
from home.template import line


@click.group(invoke_without_command=True)
@click.pass_context
def config(ctx: click.Context) -> None:
    """Show where config.toml is, which is made if it is missing. `check` says whether it is right, `show` what it sets."""
    if ctx.invoked_subcommand is None:
        _show_place()


@pass_home
def _show_place(home: Home) -> None:
    settings.make(home.config)
    click.echo(home.config)


@config.command
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.pass_obj
def check(home: Home, file: Path | None) -> None:
    """Say all that is wrong with config.toml, or with another FILE that is to be one; ends with 2 then. Nothing is changed."""
    path = file or home.config
    data = _read(path)
    if data is None and file is not None:
        raise WrongFileError(f"{path}: there is no such file")
    outbound.check(path, settings.parse(path, data or b""))
    right = f"{path}: all is well" if data is not None else f"{path} is not there: the defaults hold"
    click.echo(right if file is not None and not _is_one(file, home.config) else f"{right}{_taken(home)}")


@config.command
@click.option("--all", "everything", is_flag=True, help="Also what is as it is by default.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@click.pass_obj
def show(home: Home, everything: bool, as_json: bool) -> None:
    """Show what the settings come to where they differ from the defaults, and where that is set."""
    data = _read(home.config) or b""
    values = values_of(settings.parse(home.config, data))
    set_at = places(data)
    shown = {key: value for key, value in values.items() if everything or value != SETTINGS[key].default}
    if as_json:
        click.echo(json.dumps({key: _document(home, key, value, set_at) for key, value in shown.items()}, indent=2))
        return
    lines = {key: line(key, value) for key, value in shown.items()}
    width = max(map(len, lines.values()), default=0)
    for key, text in lines.items():
        click.echo(f"{text:<{width}}  # {f'{home.config}:{set_at[key]}' if key in set_at else 'default'}")
    if not shown:
        click.echo(f"{home.config}: all is as it is by default; every setting: flowpool config show --all")


def places(data: bytes) -> dict[str, int]:
    """Return the line on which each setting of a valid config.toml is set, by dotted key."""
    found = {".".join(map(str, key)): number for key, number in toml.lines(data).items()}
    return {key: found[key] for key in SETTINGS if key in found}


def _document(home: Home, key: str, value: Any, set_at: dict[str, int]) -> dict[str, Any]:
    at = set_at.get(key)
    plain = str(value) if isinstance(value, Address) else value
    return {"value": "" if value is None else plain, "file": str(home.config) if at else None, "line": at}


def _read(path: Path) -> bytes | None:
    try:
        return files.read(path, private=False)
    except Unreadable as error:
        raise WrongFileError(f"{path}: {error.what}; run: ls -ld '{path}'") from error


def _is_one(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


def _taken(home: Home) -> str:
    """Say whether the running proxy goes by it."""
    proxy = running.read(home.running)
    if proxy is None:
        return "; no proxy runs"
    if running.is_changed(proxy, home.config):
        return f"; the running proxy (pid {proxy.pid}) has not taken it up yet; run: flowpool restart"
    return f"; the running proxy (pid {proxy.pid}) goes by it"
