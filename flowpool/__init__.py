"""The shell in the terminal: the command flowpool."""
