"""People who can log in here beside us are counted; the system's own users are not."""

import sys
from pathlib import Path

import pytest

from flowpool.findings.finding import Level
from flowpool.findings.people import others

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems keep their users elsewhere")

USERS = """root:x:0:0:root:/root:/bin/bash
daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
postgres:x:101:104::/var/lib/postgresql:/bin/bash
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
runner:x:1002:1002::/srv:/usr/sbin/nologin
parked:x:1003:1003::/home/parked:/bin/false
ann:x:1000:1000:Ann:/home/ann:/bin/zsh
not a line
bad:x:abc:1::/:/bin/sh
"""


@pytest.mark.parametrize(
    ("more", "me", "level", "says"),
    [
        ("", 1000, Level.OK, "nobody else can log in here"),
        ("", 0, Level.WARN, "1 other person can log in here"),
        ("ben:x:1001:1001::/home/ben:/bin/bash\n", 1000, Level.WARN, "1 other person can"),
        ("ben:x:1001:1001::/home/ben:\ncy:x:1004:1::/home/cy:/bin/sh\n", 1000, Level.WARN, "2 other people can"),
    ],
)
def test_people_are_counted(tmp_path: Path, more: str, me: int, level: Level, says: str) -> None:
    """Beside the one who asks."""
    path = tmp_path / "passwd"
    path.write_text(USERS + more)
    found = others(path, me)

    assert (found.level, found.message.startswith(says)) == (level, True)


def test_who_must_show_a_key_is_no_danger(tmp_path: Path) -> None:
    """With `[admit] key` others may log in, and still not use the pool."""
    path = tmp_path / "passwd"
    path.write_text(USERS)
    found = others(path, 0, is_keyed=True)

    assert (found.level, "only who shows the key" in found.message) == (Level.OK, True)
    assert "[admit] key" in others(path, 0).message


def test_a_file_that_is_not_there_is_passed_over(tmp_path: Path) -> None:
    """A container may have none."""
    assert others(tmp_path / "passwd").level is Level.SKIP
