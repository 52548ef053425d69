"""How a credential is laid out in a keyring's entries: their names, their pieces, and the head that lists them.

    ID/meta                 the head, as JSON: kind, expires_at, extras; which entries hold the secrets; no secret
    ID/access  ID/api_key  ID/refresh
                            a secret that fits into one entry
    ID/access#0 … ID/access#2
                            a longer one, in pieces; the head knows how many
    ID/access@TAG …         the same of every later generation

Each save writes a generation under names that were never used before, and then the head, which points to it: so a crash
leaves the old credential or the new one, never a mixture. The head also lists the generations that are not to be found
any more (`loose`), before their first entry is written and until their last is erased: so none is forgotten.
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from credentials import record
from credentials.credential import API_KEY, Credential
from credentials.record import Plain

VERSION = 1
PIECE = 1200  # UTF-16 units of one entry; Windows takes 1280
INLINE = 500  # characters of kind, expires_at and extras in the head itself; longer ones get entries of their own
KEPT_LOOSE = 6  # generations; more pile up only where a backend cannot erase, and the head must fit into an entry
MOST_PIECES = 2000  # of one field; a secret pasted may have 1 MiB
META, ACCESS, KEY, REFRESH = FIELDS = ("meta", "access", "api_key", "refresh")

type Texts = dict[str, str]  # by field


class NewerVersion(ValueError):  # noqa: N818  # reads as the fact it states
    """The head was written by a newer flowpool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """The entries of one save. sizes: by field, how many pieces and how many characters in all."""

    tag: str
    sizes: Mapping[str, tuple[int, int]]

    def names(self, account_id: str, name: str) -> tuple[str, ...]:
        """Return the users under which the pieces of a field are kept."""
        whole = f"{account_id}/{name}@{self.tag}" if self.tag else f"{account_id}/{name}"
        if name != META and self.sizes[name][0] == 1:
            return (whole,)
        return tuple(f"{whole}#{number}" for number in range(self.sizes[name][0]))

    def all_names(self, account_id: str) -> Iterator[str]:
        """Yield every user of this generation."""
        for name in self.sizes:
            yield from self.names(account_id, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What ID/meta says. now: None when no credential is stored. details: None when they have an entry of their own."""

    now: Generation | None = None
    details: Mapping[str, object] | None = None
    saved_at: int = 0
    loose: tuple[Generation, ...] = field(default=())

    def every(self) -> tuple[Generation, ...]:
        """Return all generations that may have entries."""
        return (*self.loose, self.now) if self.now else self.loose


def new_tag() -> str:
    """Draw a name for a generation that no other has, not even one of another process."""
    return os.urandom(4).hex()


def lay_out(credential: Credential, tag: str) -> tuple[Generation, Texts, dict[str, Plain] | None]:
    """Return a generation, the texts of its fields, and the details unless they are among the texts."""
    fields = record.dump(credential)
    secrets = {KEY if credential.kind == API_KEY else ACCESS: fields.pop("access"), REFRESH: fields.pop("refresh")}
    texts = {name: text for name, text in secrets.items() if isinstance(text, str)}
    details: dict[str, Plain] | None = fields
    if len(described := json.dumps(fields)) > INLINE:
        texts[META], details = described, None
    sizes = {name: (len(cut(text)), len(text)) for name, text in texts.items()}
    return Generation(tag=tag, sizes=sizes), texts, details


def put_together(details: object, texts: Mapping[str, str]) -> Credential:
    """Return the credential of which these are the parts; raise ValueError, which never quotes them."""
    if details is None:
        details = json.loads(texts[META])
    if not isinstance(details, dict):
        raise ValueError("its details are no object")  # noqa: TRY004  # one kind of fault for callers
    access = texts.get(KEY if details.get("kind") == API_KEY else ACCESS)
    return record.load({**details, "access": access, "refresh": texts.get(REFRESH)})


def cut(text: str) -> tuple[str, ...]:
    """Cut a text into pieces that each fit into an entry; at least one."""
    size = PIECE if not text or max(text) <= "\uffff" else PIECE // 2  # the others take two units
    return tuple(text[start : start + size] for start in range(0, len(text), size)) or ("",)


def dump(head: Head) -> str:
    """Return the text of ID/meta: ASCII, one entry long."""
    kept: dict[str, object] = {"version": VERSION}
    if head.now:
        kept |= {**(head.details or {}), "saved_at": head.saved_at, "now": _dump(head.now)}
    return json.dumps(kept | {"loose": [_dump(one) for one in head.loose[-KEPT_LOOSE:]]}, separators=(",", ":"))


def load(text: str) -> Head:
    """Read the text of ID/meta; raise ValueError, which never quotes it."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("not valid JSON") from None  # the cause would quote it
    match found:
        case {"version": int(version)} if version > VERSION:
            raise NewerVersion(f"written by a newer flowpool (version {version})")
        case {"version": 1, "now": now, "saved_at": int(saved_at), "loose": list(loose), **details}:
            loose_ones = tuple(_load(one) for one in loose)
            current = _load(now)
            inline = None if META in current.sizes else {str(name): value for name, value in details.items()}
            return Head(now=current, details=inline, saved_at=saved_at, loose=loose_ones)
        case {"version": 1, "loose": list(loose)}:
            return Head(loose=tuple(_load(one) for one in loose))
        case _:
            raise ValueError("not what flowpool writes")


def _dump(generation: Generation) -> list[object]:
    return [generation.tag, {name: list(size) for name, size in generation.sizes.items()}]


def _load(found: object) -> Generation:
    match found:
        case [str(tag), dict(sizes)]:
            return Generation(tag=tag, sizes={name: _size(size) for name, size in sizes.items() if name in FIELDS})
        case _:
            raise ValueError("a generation is not what flowpool writes")


def _size(found: object) -> tuple[int, int]:
    match found:
        case [int(pieces), int(characters)] if 0 < pieces <= MOST_PIECES and characters >= 0:
            return pieces, characters
        case _:
            raise ValueError("a size is not what flowpool writes")
