"""`flowpool restart`: tests/e2e/test_lifecycle.py shows that nobody is refused; here is what a person is told."""

from pathlib import Path

import pytest

from flowpool import restart
from flowpool.errors import Failure
from flowpool.proxy import find
from tests.flowpool.cli import Shell
from tests.flowpool.living import place, quiet, serving
from tests.flowpool.proxy import announce, listening, reply


def test_without_a_proxy_one_is_started_and_then_it_is_followed(shell: Shell) -> None:
    """The new one has the same address and another process."""
    with quiet(shell) as home:
        assert shell.run("restart").stdout.startswith("no proxy ran; one runs now on http://127.0.0.1:")
        old = serving(home)
        said = shell.run("restart").stdout
        new = serving(home)
        assert (new.listen, new.pid != old.pid) == (old.listen, True)
        assert said == (
            f"restarted, on http://{new.listen['claude']} (pid {new.pid});"
            f" the old process (pid {old.pid}) ends when what it has in flight is answered\n"
        )


REFUSED = b'{"type": "error", "error": {"type": "invalid_request_error", "message": "it runs in mitmweb"}}'
ANSWERS = [
    (reply(REFUSED, "400 Bad Request"), "it runs in mitmweb"),
    (reply(b'{"pid": 1, "in_place": false}'), "another process took over, and has ended since; run: flowpool logs"),
    (reply(b'{"pid": 1, "in_place": true, "within": -29.5}'), "does not come back; run: flowpool logs"),
]


@pytest.mark.parametrize(("answer", "why"), ANSWERS, ids=["refused", "gone", "away"])
def test_why_nobody_serves_anew_is_told(tmp_path: Path, answer: bytes, why: str) -> None:
    """In the proxy's own words where it has some."""
    with listening(answer, []) as address:
        announce(tmp_path, address)
        found = find(place(tmp_path))
        assert found is not None
        with pytest.raises(Failure, match=why):
            restart.renewed(place(tmp_path), found)


def test_one_that_has_just_ended_is_started_by_hand(tmp_path: Path) -> None:
    """Nobody is there to be followed."""
    with listening(b"", []) as address:
        announce(tmp_path, address)
    found = find(place(tmp_path))
    assert found is not None
    with pytest.raises(Failure, match="run: flowpool start"):
        restart.renewed(place(tmp_path), found)
