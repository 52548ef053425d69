"""`flowpool connect` and `disconnect`: every start of Claude Code uses the pool, by the `env` of its settings.

`flowpool run` and `link` reach what is started by them; an IDE's extension, and whatever else starts Claude Code, reads its settings.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import click

from credentials import files
from credentials.errors import CredentialError
from flowpool.addresses import reachable
from flowpool.arguments import pass_home
from flowpool.errors import Failure
from flowpool.findings import clientfiles
from flowpool.findings.finding import editing
from flowpool.launch import connecting, environment, foreign, own_settings, placed, touched, wishes
from flowpool.launch.connecting import Undone
from flowpool.launch.environment import PLACED, TOKEN
from flowpool.launch.jsonc_edit import Keys
from flowpool.launch.overlay import Wish
from flowpool.launch.wishes import Reach
from home import clientlogin, controlkey, running
from home.checks import Address
from home.errors import HomeError
from home.paths import Home

PROGRAM = "claude"
_MENTIONS = (b"ANTHROPIC_", environment.PLACED.encode())  # what is known by sight has one of them
SETTINGS = click.option(
    "--settings",
    "named",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Another settings.json than that of ~/.claude, or of CLAUDE_CONFIG_DIR.",
)


@click.command
@SETTINGS
@pass_home
def connect(home: Home, named: Path | None) -> None:
    """Let every start of Claude Code use the pool.

    Also those of an IDE's extension. Only what flowpool needs is put into `env` of Claude Code's settings, and nothing else in the file
    changes. It needs a running proxy from then on, for its settings go before its environment; `flowpool disconnect` takes it out
    again, and gives back what stood there.

    No token is put there. A Claude Code without a login of its own gets a placeholder, which is none, and loses it by `connect` once it
    has one.
    """
    file = own_settings.checked(named) if named else usual()
    lacks_login = placed.lacks_login(os.environ, None if named is None else file)
    reach = reach_of(home, token=_placeholder() if lacks_login else "")
    if reach.key:
        foreign.keep_private(file)
    was_placed = placed.stands_in(file)
    laid = connecting.lay(home, PROGRAM, file, wishes.wishes(reach))
    if not laid.is_new:
        click.echo(f"{file}: unchanged, Claude Code uses {reach.base_url}")
    else:
        click.echo(f"{file}: {_names(one.path for one in laid.changes if one.ours)}")
        click.echo(f"Claude Code uses {reach.base_url}, however it is started; to undo it: flowpool disconnect")
    for line in _of_login(home, file, was_placed=was_placed, lacks_login=lacks_login):
        click.echo(line)
    if laid.replaced:
        click.echo(f"flowpool: your own {_names(laid.replaced)} comes back with: flowpool disconnect", err=True)
    if clientfiles.read(file) is None:
        click.echo(
            f"flowpool: Claude Code passes over all of {file}, for it has comments or commas too many; "
            f"take them out; run: {editing(file)}",
            err=True,
        )
    if running.read(home.running) is None:
        click.echo("flowpool: no proxy runs yet; run: flowpool start", err=True)


@click.command
@SETTINGS
@pass_home
def disconnect(home: Home, named: Path | None) -> None:
    """Undo `connect`, wherever it was done.

    What stood there before comes back; what you changed since stays.
    """
    lines = undo_one(home, own_settings.checked(named)) if named else undo(home)
    for line in lines or ["nothing of flowpool's is in Claude Code's settings"]:
        click.echo(line)


def undo(home: Home) -> list[str]:
    """Take ours out of every file in which it is; return lines of what was undone.

    One file that cannot be changed does not keep the others: Failure is raised at the end, with the lines so far.
    """
    known = [one.file for one in touched.load(home) if one.program == PROGRAM]
    others = [file for file in [usual()] if os.path.realpath(file) not in map(os.path.realpath, known)]
    lines, faults = [], []
    for file in [*known, *others]:
        try:
            lines += undo_one(home, file)
        except (Failure, HomeError, CredentialError) as error:
            faults.append(str(error))
    if faults:
        raise Failure("\n".join([*lines, *faults]))
    return lines


def usual() -> Path:
    """Return where this person's settings are."""
    return clientfiles.settings(clientlogin.usual(os.environ)).absolute()


def _of_login(home: Home, file: Path, *, was_placed: bool, lacks_login: bool) -> list[str]:
    """Return a line on the placeholder, and take one out that is not needed and of which nothing is known."""
    if not lacks_login:
        if placed.stands_in(file):
            connecting.lift_by_sight(home, file, [one for one in _known_by_sight(home) if one.path == wishes.TOKEN])
        return [f"Claude Code has a login of its own, so {TOKEN} is out again"] if was_placed else []
    if not placed.stands_in(file):  # what stands there is not ours to change
        return []
    what = f"Claude Code has no login of its own: {TOKEN} is a placeholder, with which the pool serves it"
    return [f"{what}; after a login run flowpool connect again"]


def _placeholder() -> str:
    from providers.anthropic.placeholder import PLACEHOLDER  # noqa: PLC0415  # loads all of the provider

    return PLACEHOLDER


def reach_of(home: Home, token: str = "") -> Reach:
    """Return how clients reach this home's pool. Raises Failure where its address is another at each start."""
    from home import settings  # noqa: PLC0415

    chosen = settings.load(home.config)
    if chosen.listen.claude.port == 0:
        raise Failure(
            f"the proxy's port is another at each start; set [listen] claude in {home.config} to one, then run: flowpool connect"
        )
    found = addresses(home)
    return Reach(
        base_url=f"http://{reachable(found[0])}",
        addresses=found,
        defaults=environment.RESTORED | environment.patience(chosen.wait),
        key=controlkey.ensure(home.client_key).reveal() if chosen.admit.key else "",
        token=token,
    )


def addresses(home: Home) -> tuple[Address, ...]:
    """Return where this home's proxy is asked, the likeliest first: as it runs, as config.toml has it, as it ran last."""
    from home import settings  # noqa: PLC0415  # as above

    found: list[Address] = []
    last = running.left(home.running)
    is_there = last is not None and running.is_there(last)
    with suppress(HomeError, CredentialError):  # read, never made: doctor changes nothing
        data = files.read(home.config, private=False)
        found.append(settings.parse(home.config, data or b"").listen.claude)
    if last is not None and "claude" in last.listen:
        found.insert(0 if is_there else len(found), last.listen["claude"])
    return tuple(dict.fromkeys(reachable(one) for one in found if one.port))


def undo_one(home: Home, file: Path) -> list[str]:
    """Take ours out of one file; return lines of what was undone. Raises FileFault and WrongFileError."""
    ours = addresses(home)
    known = wishes.theirs(ours)
    undone = connecting.lift(home, PROGRAM, file, known)
    text = foreign.read(file) or b"" if undone is None else b""
    if any(one in text for one in _MENTIONS):  # what cannot be read, and has nothing of ours, is no fault
        undone = connecting.lift_by_sight(home, file, _known_by_sight(home))
    return [] if undone is None else _told(file, undone)


def _known_by_sight(home: Home) -> tuple[Wish, ...]:
    return wishes.wishes(Reach(base_url="", addresses=addresses(home), key="-", token=PLACED))


def _told(file: Path, undone: Undone) -> list[str]:
    lines = [f"{file}: changed since, so it stays: {_names(undone.changed)}"] if undone.changed else []
    if undone.gone:
        return [*lines, f"{file}: removed, for nothing else was in it"]
    return [*lines, f"{file}: as before, without {_names(undone.back)}"] if undone.back else lines


def _names(keys: Iterable[Keys]) -> str:
    return ", ".join(key[-1] for key in keys)
