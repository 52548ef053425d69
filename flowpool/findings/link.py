"""Whether the link is what a person starts who types its name."""

import shutil
from collections.abc import Mapping

from flowpool.findings.finding import Finding, ok, warn
from flowpool.launch.binary import is_link
from flowpool.launch.link import is_first, path_line
from flowpool.launch.places import PROGRAM
from home.paths import Home

PART = "link"


def link(home: Home, variables: Mapping[str, str]) -> list[Finding]:
    """One line where the link is written; none where it is not, for nobody needs it."""
    if not is_link(home.link):
        return []
    found = shutil.which(PROGRAM, path=variables.get("PATH", ""))
    if is_first(variables):
        return [ok(PART, f"`{PROGRAM}` goes through the pool in this shell ({found})")]
    instead = "is not found" if found is None else f"is {found} here, which goes past the pool"
    what = (
        f"{home.link} is written, but `{PROGRAM}` {instead}; put its folder first on the PATH, in your shell's own file"
    )
    return [warn(PART, what, path_line(home.link.parent, variables))]
