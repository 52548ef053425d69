"""Which tables this flowpool knows."""

VERSION = 1  # of the schema; raise it with every change of a table
