"""JSON texts as people write them: any layout, with comments and trailing commas where they are wanted."""

import json
import re
from typing import Any

from hypothesis import strategies as st

NAMES = st.one_of(st.sampled_from(["env", "hooks", "enabledPlugins", "model", "a"]), st.text(max_size=5))
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=8)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=4,
)
SPACES = ["", "", " ", "\n  ", "\r\n\t", "\n\n    ", "\r"]
COMMENTS = ["/**/", " /* , } */", "\n// a note, {\n", '// "quoted" */\r\n', "/* two\nlines // */ // three\n", "//\r"]
TRIVIA = {False: st.sampled_from(SPACES), True: st.sampled_from(SPACES * 3 + COMMENTS)}


@st.composite
def texts(draw: st.DrawFn, values: st.SearchStrategy[Any] = VALUES, *, with_comments: bool = True) -> str:
    """A value as a text in some layout."""
    is_ascii = draw(st.booleans())
    ends = "," if with_comments and draw(st.booleans()) else ""

    def space() -> str:
        return draw(TRIVIA[with_comments])

    def name(text: str) -> str:
        return json.dumps(text, ensure_ascii=is_ascii)

    def show(value: Any) -> str:
        if isinstance(value, dict):
            return "{" + joined([f"{name(key)}{space()}:{space()}{show(one)}" for key, one in value.items()]) + "}"
        if isinstance(value, list):
            return "[" + joined([show(one) for one in value]) + "]"
        return name(value) if isinstance(value, str) else json.dumps(value)

    def joined(parts: list[str]) -> str:
        return ",".join(f"{space()}{part}{space()}" for part in parts) + (ends if parts else "") + space()

    return f"{space()}{show(draw(values))}{space()}"


def objects(
    env: st.SearchStrategy[Any] | None = None, values: st.SearchStrategy[Any] = VALUES, *, with_comments: bool = True
) -> st.SearchStrategy[str]:
    """Texts of objects. env: what their member "env", if they have one, may hold; values: what the others may."""
    inner = st.dictionaries(NAMES, LEAVES, max_size=4) if env is None else env
    found = st.dictionaries(NAMES.filter(lambda name: name != "env"), values, max_size=3)
    with_env = st.tuples(found, inner, st.integers(0, 4)).map(_with_env)
    return texts(st.one_of(found, with_env), with_comments=with_comments)


def _with_env(parts: tuple[dict[str, Any], Any, int]) -> dict[str, Any]:
    """Put env among the other members at some place."""
    pairs = list(parts[0].items())
    pairs.insert(parts[2], ("env", parts[1]))
    return dict(pairs)


_PARTS = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_COMMAS = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')


def plain(text: str) -> Any:
    """What a text says, read by json once comments and last commas are out: another way than the one that is tested."""
    bare = _PARTS.sub(lambda found: found[1] or " ", text.removeprefix("\ufeff"))
    return json.loads(_COMMAS.sub(lambda found: found[1] or "", bare))
