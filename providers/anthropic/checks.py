"""Whether a credential is good: what to ask, and what the answer means.

The list of models costs nothing and is answered to every kind of credential. Fact: docs/facts/anthropic.md#checking-a-credential.
"""

from dataclasses import dataclass

from credentials import web
from credentials.redaction import MASKED, redacted
from providers.anthropic import errors, rides
from routing.health import Standing
from routing.words import Kind

__all__ = ["Finding", "Standing", "finding", "question", "told"]

PATH = "/v1/models"
VERSION = "2023-06-01"
LONGEST = 200  # bytes of a detail

_STANDINGS = {200: Standing.VALID, 401: Standing.INVALID, 403: Standing.DISABLED, 429: Standing.LIMITED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a check found. detail: the vendor's own words, fit for a screen; empty when there are none."""

    standing: Standing
    detail: str = ""


def question(url: str, kind: Kind, secret: str, agent: str) -> web.Question:
    """The GET that asks with this secret; agent: who says that it asks."""
    ride = rides.ride(kind)
    fields = {"accept": "application/json", "user-agent": agent, "anthropic-version": VERSION}
    fields[ride.header] = ride.value.format(secret)
    if ride.gains:
        fields[ride.list_header] = ",".join(sorted(ride.gains))
    return web.Question(method="GET", url=url, headers=fields)


def finding(answer: web.Answer, secret: str) -> Finding:
    """What an answer of PATH means for the secret that was asked with."""
    detail = told(errors.read_fault(answer.body).message, secret)
    return Finding(standing=_STANDINGS.get(answer.status, Standing.UNKNOWN), detail=detail)


def told(message: str, secret: str) -> str:
    """A foreign message as one line of at most LONGEST bytes, without the secret and whatever else may be one.

    What may be a secret is masked before anything is cut: half of one would not be known again.
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in message).split())
    return redacted(line.replace(secret, MASKED)).encode()[:LONGEST].decode(errors="ignore")
