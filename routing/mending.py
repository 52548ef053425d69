"""The command that gives an account a new credential, for reasons and answers that end with it."""

from routing.words import Kind


def mending(kind: str, name: str) -> str:
    """Say what to run; kind: a Kind, or its text."""
    return f"flowpool login {name}" if kind == Kind.OAUTH else f"flowpool add {name} --replace"
