"""What lives in the user's folder: where things are, settings, accounts, the proxy that runs and its key."""
