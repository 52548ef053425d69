"""The way out of this machine, as `[outbound]` has it: a network's proxy, and authorities to trust besides the usual ones."""

from contextlib import suppress
from pathlib import Path

from credentials import files
from credentials.loopback import is_loopback
from credentials.way import Way
from home.errors import Fault, SettingsError
from home.tables import Outbound, Settings

PROXY, BUNDLE = "outbound.proxy", "outbound.ca_bundle"
MEND = "set it to a file of authorities"
ANY = ("0.0.0.0", "::")  # noqa: S104  # compared, not bound
BEGIN = b"-----BEGIN CERTIFICATE-----"


def way(outbound: Outbound) -> Way:
    """Return how our own questions go out."""
    bundle = outbound.ca_bundle
    with suppress(RuntimeError):  # ~somebody, and there is no such user: who reads it says so
        bundle = str(Path(bundle).expanduser()) if bundle else ""
    return Way(proxy=outbound.proxy, ca_bundle=bundle)


def check(config: Path, chosen: Settings) -> None:
    """Raise SettingsError where the bundle cannot be used, or the proxy is flowpool itself; config: where the settings stand."""
    host, port = way(chosen.outbound).proxy_address
    for listen in filter(None, (chosen.listen.claude, chosen.listen.forward)):
        is_here = host == listen.host or (is_loopback(host) and (is_loopback(listen.host) or listen.host in ANY))
        if port == listen.port and is_here:
            raise _wrong(config, PROXY, "is where flowpool itself listens; set it to your network's proxy")
    _read(config, chosen.outbound)


def gather(folder: Path, config: Path, outbound: Outbound, usual: Path) -> Path:
    """Return a file of all authorities to trust, made of the usual ones and the bundle; without a bundle the usual file itself.

    It lies in the folder, for our eyes alone, and is replaced in one step. Raises SettingsError, and FileFault where it cannot be written.
    """
    data = _read(config, outbound)
    if data is None:
        return usual
    path = folder / "authorities.pem"
    try:
        both = usual.read_bytes() + b"\n" + data
    except OSError as error:
        raise _wrong(
            config, BUNDLE, f"{usual}, with the usual authorities, cannot be read: {_why(error)}; {MEND}"
        ) from error
    files.write(path, both)
    return path


def _read(config: Path, outbound: Outbound) -> bytes | None:
    """Return the bundle; None where there is none."""
    if not outbound.ca_bundle:
        return None
    import ssl  # noqa: PLC0415  # few have a bundle

    try:
        path = Path(outbound.ca_bundle).expanduser()
        data = path.read_bytes()
        trusted = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        trusted.load_verify_locations(cafile=path)
    except ssl.SSLError:
        raise _wrong(config, BUNDLE, f"{outbound.ca_bundle} is no PEM file of certificates; {MEND}") from None
    except (OSError, RuntimeError) as error:  # RuntimeError: ~somebody, and there is no such user
        raise _wrong(config, BUNDLE, f"{outbound.ca_bundle} cannot be read: {_why(error)}; {MEND}") from error
    if BEGIN not in data:
        raise _wrong(config, BUNDLE, f"{outbound.ca_bundle} holds no certificate; {MEND}")
    return data


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or type(error).__name__


def _wrong(config: Path, key: str, why: str) -> SettingsError:
    return SettingsError(config, (Fault(key=key, line=None, message=why),))
