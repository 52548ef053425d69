"""A stand-in for the vendor's `claude`: it asks for a code on its terminal, and leaves the files that the real one leaves.

STANDIN_LOGINS names a JSON file: what it leaves for each code. It notes what it was run with in STANDIN_NOTES.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.upstream.tokens import login, plant

SOURCE = """#!{python}
import json, os, signal, sys
arguments = sys.argv[1:]
folder = os.environ["CLAUDE_CONFIG_DIR"]
if arguments == ["auth", "--help"]:
    print("Commands:\\n  login [options]   Sign in to your Anthropic account" if {has_auth} else "Usage: claude")
    sys.exit()
with open(os.environ["STANDIN_NOTES"], "a") as notes:
    foreign = sorted(name for name in os.environ if name.startswith(("ANTHROPIC", "CLAUDE")))
    mode = oct(os.stat(folder).st_mode & 0o777)
    json.dump([arguments, folder, mode, foreign, os.getcwd() == os.path.realpath(folder)], notes)
    notes.write("\\n")
if "ANTHROPIC_API_KEY" in os.environ:
    sys.exit("Invalid API key")
if arguments == ["setup-token"]:
    print("Your OAuth token: (it would be here)")
    sys.exit()
if arguments not in (["auth", "login"], ["/login"]):
    sys.exit("unknown arguments")
print("If the browser didn't open, visit: https://claude.example/oauth/authorize")
try:
    code = input("Paste code here if prompted > ")
except KeyboardInterrupt:
    sys.exit(130)
if code == "hang":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("deaf", flush=True)
    signal.pause()
if code == "nothing":
    sys.exit()
made = json.load(open(os.environ["STANDIN_LOGINS"])).get(code)
if made is None:
    sys.exit("Login failed: the code is wrong")
for name, text in made.items():
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)
print("Login successful.")
"""


@dataclass
class StandIn:
    """The program, and what it leaves.

    notes: for each run its arguments, its folder, the folder's mode, which variables named Claude, and whether it ran there.
    """

    folder: Path
    has_auth: bool = True
    logins: dict[str, dict[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir()
        self.program.write_text(SOURCE.format(python=sys.executable, has_auth=self.has_auth))
        self.program.chmod(stat.S_IRWXU)

    @property
    def program(self) -> Path:
        """What is run."""
        return self.folder / "claude"

    @property
    def environ(self) -> dict[str, str]:
        """What a program needs to find and run it."""
        return {
            "PATH": f"{self.folder}{os.pathsep}{os.defpath}",
            "STANDIN_LOGINS": str(self.folder / "logins.json"),
            "STANDIN_NOTES": str(self.folder / "notes"),
        }

    @property
    def notes(self) -> list[Any]:
        """What it was run with, all so far."""
        path = self.folder / "notes"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def gives(self, code: str, token: str, owner: Mapping[str, str] | None = None) -> str:
        """Let a code be a login with this access token; return the token."""
        self.leaves(
            code, {".credentials.json": login(token), ".claude.json": json.dumps({"oauthAccount": owner or {}})}
        )
        return token

    def leaves(self, code: str, files: dict[str, str]) -> None:
        """Let a code leave these files."""
        self.logins[code] = files
        (self.folder / "logins.json").write_text(json.dumps(self.logins))


def owner(name: str, organization: str = "Example Org") -> dict[str, str]:
    """Claude Code's oauthAccount of somebody."""
    return {
        "emailAddress": f"{name}@example.org",
        "accountUuid": f"u-{name}",
        "organizationUuid": f"o-{organization}",
        "organizationName": organization,
    }


def planted(name: str) -> str:
    """A login's access token that no other call returns."""
    return plant(name, "oauth")
