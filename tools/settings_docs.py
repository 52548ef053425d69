"""docs/settings.md, drawn from the code. `make docs` writes it: python -m tools.settings_docs FILE."""

import dataclasses
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from home import accounts, schema
from home.checks import LONGEST
from home.template import literal
from routing.words import Account, Identity, Reserves

ROOT = Path(__file__).resolve().parents[1]

HEAD = f"""\
# Settings

`make docs` writes this file from the code: change a sentence there.

## config.toml

Yours to edit: flowpool writes it once, with every setting as a comment, and never again. A setting that is not set has its default.
A running `flowpool serve`, in a terminal, in the background or as a service, takes a valid change up by itself within a second: another
process of it takes over, and no answer is cut. While the file is wrong it keeps what it has, and `status` and `doctor` say so. Under
mitmdump and mitmweb, and on Windows, a change takes effect at the next start; the other commands read the file each time they need it,
so there start the proxy again after changing `credentials.backend`, before `flowpool add` puts a secret where the running one does not
look. A setting that is unknown or out of range stops a start with a line that names the file, the line, the setting and what it must
be; `flowpool config check` says the same. A year is {LONGEST / 86400:g} days.

```toml
version = {schema.VERSION} # of the file's form, {schema.VERSION} if it is missing

[wait]
max = 600 # seconds

[log]
level = "debug"
```
"""

ACCOUNTS = f"""
## accounts.toml

flowpool's commands write it. A running proxy takes a change within a second, by hand too, and keeps the accounts it has while the file
is wrong. Secrets are elsewhere. Above the accounts stands `version = {accounts.VERSION}`, which must be there. The keys of one
`[[accounts]]`:

"""

EXAMPLE = """
```toml
version = 1

[[accounts]]
id = "3f9c0a51d2b7"
name = "work"
provider = "anthropic"
kind = "oauth"
rank = 1
reserve_5h = 0.1
reserve_week = 0.2
cap = 4
primary = true
owner = "0f4e62c1-5a33-4b0f-9a6d-2d1f6f1c7a10"
organization = "7d0c9b52-3f0e-4a43-8a57-6b2a0e5f9d21"
email = "me@example.org"
organization_name = "Example"
plan = "max, default_claude_max_20x"
source = "/home/me/.claude/.credentials.json"
```
"""

VARIABLES = """
## Environment variables

Read when a program starts.

"""

OPTIONS = """
## mitmproxy's options

flowpool adds none. Those of [mitm_config.yaml](../mitm_config.yaml) are set at the start where mitmproxy's default stands; another value
of yours, from the command line or mitmproxy's config.yaml, stays. With mitmdump and mitmweb `-p` replaces the port of `[listen] claude`
and `--mode` all of it. flowpool does not start with `proxy_debug=true` or `validate_inbound_headers=false`, and says why.

"""

_OPTION = re.compile(r"(?P<name>\w+): (?P<value>\S+) # (?P<meaning>.+)")


def render() -> str:
    """Return the text of the file."""
    return "".join(
        (
            HEAD,
            *(_table(name, meaning) for name, meaning in schema.TABLES.items() if schema.settings_of(name)),
            ACCOUNTS,
            _rows(("key", "must be", "default", "what it is"), _keys()),
            EXAMPLE,
            VARIABLES,
            _rows(("variable", "what it is"), ((f"`{name}`", said) for name, said in schema.VARIABLES.items())),
            OPTIONS,
            _rows(("option", "set to", "because"), _options()),
        )
    )


def _table(name: str, meaning: str) -> str:
    rows = (
        (f"`{key}`", setting.check.wanted, f"`{literal(setting.default)}`", setting.meaning)
        for key, setting in schema.settings_of(name).items()
    )
    return f"\n### [{name}]\n\n{meaning}\n\n" + _rows(("setting", "must be", "default", "what it is"), rows)


def _keys() -> Iterable[tuple[str, ...]]:
    known = (*dataclasses.fields(Account), *dataclasses.fields(Identity))
    defaults = {field.name: None if field.default == "" else field.default for field in known}
    defaults |= {"reserve_5h": Reserves().session, "reserve_week": Reserves().week}
    for name, key in accounts.KEYS.items():
        default = defaults[name]
        shown = (
            "must be set" if default is dataclasses.MISSING else "none" if default is None else f"`{literal(default)}`"
        )
        yield f"`{name}`", key.wanted, shown, key.meaning


def _options() -> Iterable[tuple[str, ...]]:
    lines = (ROOT / "mitm_config.yaml").read_text(encoding="utf-8").splitlines()
    for found in filter(None, map(_OPTION.fullmatch, lines)):
        yield f"`{found['name']}`", f"`{found['value']}`", found["meaning"]


def _rows(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = (head, ("---",) * len(head), *rows)
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(render(), encoding="utf-8")
