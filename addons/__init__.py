"""The shell in the proxy: one file, one hook duty."""
