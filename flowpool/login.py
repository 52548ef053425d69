"""`flowpool login`: the vendor's own program logs in, and what it gets comes into the pool."""

import shlex
import sys
from datetime import UTC, datetime

import click

from credentials import ends
from credentials.credential import API_KEY, SETUP_TOKEN, parse
from credentials.errors import BadSecret, Unreadable
from flowpool import names
from flowpool.arguments import FORCE, NO_VERIFY, account_name, pass_home
from flowpool.errors import Failure
from flowpool.intake import asking, placing, taking
from flowpool.vendor import claude, isolation, logins
from home import accounts as book
from home import clientlogin, settings
from home.paths import Home

HELP = """Get an account a login of its own.

Claude Code's own program logs in, in a folder that is removed afterwards: your
Claude Code's login stays as it is. It shows an address to open, on this machine
or any other, and takes the code from there, so it needs a terminal. An account
that is known to be the same is given the new secret and keeps its name, rank
and history.

\b
  flowpool login                 the address tells the name
  flowpool login work
  flowpool login work --setup-token   a token that lasts a year, and tells
                                      nothing of the account
"""


@click.command(help=HELP, short_help="Get an account a login of its own.")
@click.argument("name", required=False, callback=account_name, shell_complete=names.complete)
@click.option("--setup-token", is_flag=True, help="Let `claude setup-token` make a token, and ask for it.")
@click.option("--api-key", is_flag=True, help="Ask for an API key; nobody logs in.")
@click.option("--claude", "program", metavar="PATH", help="The program, where it is not on the PATH.")
@NO_VERIFY
@FORCE
@pass_home
def login(
    home: Home,
    /,
    name: str | None,
    *,
    setup_token: bool,
    api_key: bool,
    program: str | None,
    no_verify: bool,
    force: bool,
) -> None:
    """Let the vendor's program log in, and keep what it got."""
    if setup_token and api_key:
        raise click.UsageError("--setup-token and --api-key are two kinds of login; choose one")
    chosen = settings.load(home.config)
    book.load(home.accounts)  # what is wrong there is better said before somebody logs in
    option = " --setup-token" if setup_token else " --api-key" if api_key else ""
    again = f"flowpool login{f' {name}' if name else ''}{option}"
    if api_key:
        offer = _typed(API_KEY, name, again)
    else:
        if setup_token:
            _need_terminal(
                "setup-token", f"where you have its token, run: flowpool add {name or 'NAME'} --kind {SETUP_TOKEN}"
            )
        path = claude.find(program, again)
        again += f" --claude {shlex.quote(str(program))}" if program else ""
        if not setup_token:
            _need_terminal("auth login", f"it waits there for a code, or for your browser; in one, run: {again}")
        offer = _token(home, name, again, path) if setup_token else _logged_in(home, name, again, path)
    known = book.load(home.accounts)
    taken = taking.take(home, chosen, known, offer, datetime.now(UTC), no_verify=no_verify, by_force=force)
    account = taken.account
    whose = placing.told(account.identity) or f"{account.kind}, {account.provider}"
    click.echo(f"logged in {account.name}{'' if taken.is_new else ' again'}: {whose}{taken.standing}")


def _logged_in(home: Home, name: str | None, again: str, program: str) -> taking.Offer:
    """Return the login that the vendor's program made."""
    with isolation.folder(home) as folder:
        arguments = claude.login_arguments(program, folder)
        if arguments == ("/login",):
            click.echo("flowpool: leave Claude Code with /exit once it says that you are logged in", err=True)
        code = claude.run(program, arguments, folder)
        try:
            made = clientlogin.read(clientlogin.of_folder(folder)) if code not in claude.STOPPED else None
        except Unreadable as error:  # which names a file that is gone when a person reads it
            raise Failure(f"what `claude` left: {error.what}; run: {again}") from None
        if made is None:
            raise _failed(code, again)
        it = logins.understood(made, "what `claude` left", again)
    return taking.Offer(
        credential=ends.of_login(it.credential, datetime.now(UTC)),
        name=name,
        command="flowpool login",
        again=again,
        identity=it.identity,
        is_fresh=True,
    )


def _token(home: Home, name: str | None, again: str, program: str) -> taking.Offer:
    """Return the token that the vendor's program showed; it keeps it nowhere."""
    with isolation.folder(home) as folder:
        code = claude.run(program, ("setup-token",), folder)
    if code:
        raise _failed(code, again)
    click.echo("flowpool: paste the token that was shown just now; it begins with sk-ant-oat", err=True)
    return _typed(SETUP_TOKEN, name, again)


def _need_terminal(command: str, instead: str) -> None:
    """Raise Failure where nobody can paste: at the end of a pipe, `claude` goes on waiting for ever."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise Failure(f"`claude {command}` needs a terminal; {instead}")


def _typed(kind: str, name: str | None, again: str) -> taking.Offer:
    """Return the secret that a person types."""
    try:
        credential = parse(kind, asking.secret(kind, name, again))
    except BadSecret as error:  # which would name a command for a new account, of a name that was typed
        raise Failure(f"{str(error).partition('; run: ')[0]}; run: {again}") from None
    return taking.Offer(
        credential=ends.of_token(credential, datetime.now(UTC)),
        name=name,
        command="flowpool login",
        again=again,
        is_fresh=True,
    )


def _failed(code: int, again: str) -> Failure:
    """Say why no login came out of it."""
    if code in claude.STOPPED:
        click.echo(err=True)  # the cursor still stands behind the question
        return Failure(f"the login was stopped; nothing was saved; to begin anew, run: {again}")
    if code:
        return Failure(f"`claude` ended with code {code}, and no login came out of it; nothing was saved; run: {again}")
    return Failure(f"`claude` ended, but no login came out of it; nothing was saved; run: {again}")
