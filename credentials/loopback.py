"""Which hosts are this machine: only to them may a secret go without TLS."""


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine by its name alone."""
    import ipaddress  # noqa: PLC0415  # costs some of the 150 ms that `status` may take

    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
