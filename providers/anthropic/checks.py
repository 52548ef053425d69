"""Whether a credential is good: what to ask, and what the answer means.

The list of models costs nothing and is answered to every kind of credential. Fact: docs/facts/anthropic.md#checking-a-credential.
"""

from dataclasses import dataclass
from enum import Enum, auto

from credentials.redaction import MASKED, redacted
from providers.anthropic import errors, rides
from providers.contract import Fields
from routing.words import Kind

PATH = "/v1/models"
VERSION = "2023-06-01"
LONGEST = 200  # bytes of a detail


class Standing(Enum):
    """How the vendor takes a credential."""

    VALID = auto()
    INVALID = auto()
    DISABLED = auto()  # the credential is known, and its organisation may not use it
    LIMITED = auto()  # nothing was refused but the moment
    UNKNOWN = auto()  # the answer, or its absence, says nothing of the credential


_STANDINGS = {200: Standing.VALID, 401: Standing.INVALID, 403: Standing.DISABLED, 429: Standing.LIMITED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a check found. detail: the vendor's own words, fit for a screen; empty when there are none."""

    standing: Standing
    detail: str = ""


def question(kind: Kind, secret: str) -> Fields:
    """The headers of the GET of PATH that asks with this secret."""
    ride = rides.ride(kind)
    betas = ((ride.list_header, ",".join(sorted(ride.gains))),) if ride.gains else ()
    return (("anthropic-version", VERSION), (ride.header, ride.value.format(secret)), *betas)


def finding(status: int, body: bytes, secret: str) -> Finding:
    """What an answer means for the secret that was asked with."""
    detail = told(errors.read_fault(body).message, secret)
    return Finding(standing=_STANDINGS.get(status, Standing.UNKNOWN), detail=detail)


def told(message: str, secret: str) -> str:
    """A foreign message as one line of at most LONGEST bytes, without the secret and whatever else may be one.

    What may be a secret is masked before anything is cut: half of one would not be known again.
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in message).split())
    return redacted(line.replace(secret, MASKED)).encode()[:LONGEST].decode(errors="ignore")
