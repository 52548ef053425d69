"""Answers by which the vendor refuses, one builder for each case of verdicts.md that is not a rate limit."""

from __future__ import annotations

from tests.upstream.answer import Answer, Headers
from tests.upstream.limits import healthy, refusal, request_id, unified

# -- 429 that are not about time (rows 10, 11) ---------------------------------------------------------------------

_SPENT = unified(status="rejected", claim=None, resets_in=None)


def long_context(headers: Headers = ()) -> Answer:
    """The million-token context needs paid credits."""
    text = "Extra usage is required for long context requests."
    return refusal(429, "rate_limit_error", text, headers=headers, label="429 long context")


def fast_mode(headers: Headers = ()) -> Answer:
    """The fast mode needs paid credits."""
    text = "Usage credits are required for fast mode."
    return refusal(429, "rate_limit_error", text, headers=headers, label="429 fast mode")


def credits_required(headers: Headers = _SPENT) -> Answer:
    """The model needs paid credits on this account."""
    text = "Usage credits are required for this model."
    details = {"error_code": "credits_required"}
    return refusal(429, "rate_limit_error", text, details=details, headers=headers, label="429 credits required")


def spend_limit() -> Answer:
    """The organization's monthly spend limit is enforced."""
    text = "Your organization has reached its monthly spend limit."
    details = {"error_code": "enforced_spend_limit_reached"}
    return refusal(429, "rate_limit_error", text, details=details, label="429 spend limit")


# -- credentials (rows 16-19) --------------------------------------------------------------------------------------


def expired() -> Answer:
    """401: the OAuth token has run out."""
    text = "OAuth token has expired. Please obtain a new token or refresh your existing token."
    return refusal(401, "authentication_error", text, details={"error_code": "token_expired"}, label="401 expired")


def bad_token(message: str = "Invalid bearer token") -> Answer:
    """401: the vendor does not know the token."""
    return refusal(401, "authentication_error", message, label="401 bad token")


def revoked(status: int = 403) -> Answer:
    """The token was revoked, said as a 403 or as a 401."""
    kind = "permission_error" if status == 403 else "authentication_error"
    return refusal(status, kind, "OAuth token has been revoked.", label=f"{status} revoked")


def org_not_allowed() -> Answer:
    """403: the organization may not use OAuth."""
    text = "OAuth authentication is currently not allowed for this organization."
    return refusal(403, "permission_error", text, label="403 not allowed")


def on_hold() -> Answer:
    """403: the account is on hold."""
    return refusal(403, "permission_error", "Your account is on hold. Contact support.", label="403 on hold")


def forbidden(message: str = "Request not allowed") -> Answer:
    """Any other 403."""
    return refusal(403, "forbidden", message, label="403 other")


def org_disabled() -> Answer:
    """400: the organization is disabled."""
    return refusal(400, "invalid_request_error", "This organization has been disabled.", label="400 org disabled")


# -- money (row 20) ------------------------------------------------------------------------------------------------


def payment_required() -> Answer:
    """402: billing."""
    return refusal(402, "billing_error", "Your payment could not be processed.", label="402")


def credit_balance() -> Answer:
    """400: the API credits are used up."""
    text = (
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to purchase credits."
    )
    return refusal(400, "invalid_request_error", text, label="400 credit balance")


def extra_usage() -> Answer:
    """400: the paid extra usage is used up."""
    text = "You're out of extra usage. Add more at claude.ai/settings/usage and keep going."
    return refusal(400, "invalid_request_error", text, label="400 extra usage")


def usage_limits() -> Answer:
    """400: the workspace's own limit is reached."""
    text = "You have reached your specified API usage limits. You will regain access on 2027-01-01 at 00:00 UTC."
    return refusal(400, "invalid_request_error", text, label="400 usage limits")


# -- the vendor's own trouble (rows 21, 22) ------------------------------------------------------------------------


def overloaded(status: int = 529, retry_after: int | None = None) -> Answer:
    """529, or a 5xx whose body says overloaded_error."""
    told = () if retry_after is None else (("retry-after", str(retry_after)),)
    return refusal(status, "overloaded_error", "Overloaded", headers=told, label=f"{status} overloaded")


def server_error(status: int = 500, *, should_retry: bool | None = None, retry_after: int | None = None) -> Answer:
    """Any other 5xx as JSON; should_retry False is the vendor's word that it is useless."""
    told: Headers = () if should_retry is None else (("x-should-retry", str(should_retry).lower()),)
    told += () if retry_after is None else (("retry-after", str(retry_after)),)
    return refusal(status, "api_error", "Internal server error", headers=told, label=f"{status} api_error")


def bad_gateway(status: int = 502) -> Answer:
    """A 5xx from the edge: an HTML page without a word of JSON."""
    page = b"<html><head><title>502 Bad Gateway</title></head><body><h1>Bad gateway</h1>cloudflare</body></html>"
    headers = (("content-type", "text/html"), ("server", "cloudflare"))
    return Answer(label=f"{status} html", status=status, headers=headers, parts=(page,))


# -- the request's own fault (row 23) ------------------------------------------------------------------------------

_KINDS = {404: "not_found_error", 409: "conflict_error", 413: "request_too_large"}


def bad_request(message: str = "messages: at least one message is required", status: int = 400) -> Answer:
    """A 4xx that blames the request."""
    return refusal(
        status, _KINDS.get(status, "invalid_request_error"), message, headers=healthy(), label=f"{status} other"
    )


def redirect(location: str = "http://127.0.0.1:9/elsewhere", status: int = 302) -> Answer:
    """A 3xx."""
    return Answer(label=f"{status}", status=status, headers=(("location", location), ("request-id", request_id())))


def padded(answer: Answer, size: int) -> Answer:
    """That refusal with blanks after its JSON until the body has size bytes."""
    return Answer(
        label=f"{answer.label} of {size}",
        status=answer.status,
        headers=answer.headers,
        parts=(*answer.parts, b" " * (size - len(answer.body))),
        framing=answer.framing,
    )
