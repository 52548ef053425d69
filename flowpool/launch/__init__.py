"""Starting Claude Code: with the pool before it, watched, linked, or as a service."""
