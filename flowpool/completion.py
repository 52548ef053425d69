"""`flowpool completion`: what makes a shell complete flowpool's commands, options and names of accounts."""

import click
from click.shell_completion import get_completion_class

PLACES = {  # shell: the line to put, and where
    "bash": ("~/.bashrc", 'eval "$(flowpool completion bash)"'),
    "zsh": ("~/.zshrc, below compinit", 'eval "$(flowpool completion zsh)"'),
    "fish": ("~/.config/fish/config.fish", "flowpool completion fish | source"),
}
VARIABLE = "_FLOWPOOL_COMPLETE"  # click's name for what the script sets when it asks


@click.command
@click.argument("shell", type=click.Choice(tuple(PLACES)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print what lets a shell complete words. Its first line says where to put it."""
    make = get_completion_class(shell)
    assert make is not None  # noqa: S101  # click knows the three of them
    file, put = PLACES[shell]
    source = make(ctx.find_root().command, {}, "flowpool", VARIABLE).source()
    click.echo(f"# In {file}: {put}\n{source.strip()}")
