"""Moments as SQLite keeps them: text in UTC, which sorts as time does and which people can read."""

from datetime import UTC, datetime

LENGTH = 26  # 2026-01-05 12:00:00.000000


def to_text(moment: datetime) -> str:
    """Write an aware moment; one without its zone is a fault of ours and raises ValueError."""
    if moment.tzinfo is None:
        raise ValueError("a time without its zone")
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(sep=" ", timespec="microseconds")


def of_text(text: object) -> datetime | None:
    """Read a moment; None when there is none."""
    if not isinstance(text, str):
        return None
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        return None
