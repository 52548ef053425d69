"""Text that must not be shown: it has no way out but reveal()."""

from typing import NoReturn, Self


class Secret:
    """A token or key; printing, formatting, copying and pickling never show its text."""

    __slots__ = ("_text",)
    __hash__ = None  # type: ignore[assignment]  # a hash of the text would let a guess be checked

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text; every caller of this is a place to review."""
        return self._text

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        import hmac  # noqa: PLC0415  # costs `status` 5 ms, and few programs compare

        return hmac.compare_digest(_bytes(self._text), _bytes(other._text))

    def __repr__(self) -> str:
        return "Secret(hidden)"

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a Secret is never pickled")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
