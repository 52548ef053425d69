"""The least request that an account can be asked: one token of an answer, for what its headers tell of the account's windows.

What a subscription's token may ask without Claude Code's own words in the system prompt is a Haiku model alone: others answer such a
request with a 400, or with a 429 that tells nothing. flowpool does not pretend to be Claude Code, and copies nobody's prompt. So the
request is of the Haiku line whatever was asked last: of the Haiku model that a client was last served by, or else the newest known.
"""

import json
from datetime import datetime

from credentials import web
from providers.anthropic import checks, demand, errors, headers, paths
from providers.anthropic.usage import Finding, Said
from routing.words import Family, Kind

MODEL = "claude-haiku-5-5"
_FAMILY = Family("haiku")
_TOO_MANY = 429


def is_fit(model: str) -> bool:
    """Whether a subscription's token may ask this model so little."""
    return demand.family(model) == _FAMILY


def question(upstream: str, kind: Kind, secret: str, model: str, agent: str) -> web.Question:
    """The POST that asks with this secret; agent: who says that it asks."""
    head = checks.question(upstream + paths.MESSAGES, kind, secret, agent)
    body = {"model": model, "max_tokens": 1, "messages": [{"role": "user", "content": "ping"}]}
    fields = {**head.headers, "content-type": "application/json"}
    return web.Question(method="POST", url=head.url, headers=fields, body=json.dumps(body).encode())


def finding(answer: web.Answer, secret: str, *, sent_at: datetime, now: datetime) -> Finding:
    """What an answer tells, whatever its status: a refusal has the windows that it is for."""
    found = headers.readings(answer.headers, sent_at=sent_at, now=now)
    if found:
        return Finding(said=Said.READ, readings=found)
    said = Said.LIMITED if answer.status == _TOO_MANY else Said.NOTHING
    message = errors.read_fault(answer.body).message
    return Finding(
        said=said,
        retry_after=headers.retry_after(answer.headers, now),
        detail=f"{answer.status} {checks.told(message, secret)}".strip(),
    )
