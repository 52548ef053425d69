"""Which flowpool this is."""


def version() -> str:
    """Return the installed version, 0 when it runs from a folder that was never installed."""
    from importlib import metadata  # noqa: PLC0415  # 20 ms that status of a running proxy does without

    try:
        return metadata.version("flowpool")
    except metadata.PackageNotFoundError:
        return "0"
