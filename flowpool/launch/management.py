"""What Claude Code does for itself, without a model: it needs no pool."""

from collections.abc import Sequence

COMMANDS = frozenset(
    {
        *("setup-token", "update", "upgrade", "install", "doctor", "mcp", "plugin", "plugins", "auth"),
        *("import", "project", "auto-mode", "gateway"),
        *("--help", "-h", "--version", "-v"),
    }
)


def is_management(arguments: Sequence[str]) -> bool:
    """Tell whether a launch is one of these; only its first argument counts."""
    return bool(arguments) and arguments[0] in COMMANDS
