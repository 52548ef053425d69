"""test asks one account for one token, and explains whatever comes of it."""

import json
import os
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from home import accounts as book
from home.state.state import State
from providers.anthropic import minimal
from routing.holds import Hold
from routing.readings import Reading
from routing.remembered import Remembered
from routing.verdicts import RESERVE_ROW
from routing.windows import Window
from tests.flowpool.cli import PLANTED, ROOT, Shell, planted
from tests.flowpool.proxy import EMPTY, announce, listening, reply
from tests.terminal import Terminal
from tests.upstream import (
    Answer,
    Upstream,
    bad_request,
    bad_token,
    closed_port,
    drop,
    html_200,
    limit,
    ok_json,
    overloaded,
    throttle,
)

SESSION = Window(key="5h", length=timedelta(hours=5))
ASKS = "no 5-hour window of work is known to run, and this request would begin one"


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    """The provider."""
    with Upstream({"work": planted("work"), "paid": "sk-ant-api03-paid"}) as found:
        yield found


@pytest.fixture
def shell(shell: Shell, upstream: Upstream) -> Shell:
    """A home with one account, whose 5-hour window runs."""
    shell.home.mkdir()
    (shell.home / "config.toml").write_text(f'providers.anthropic.upstream = "{upstream.url}"\n')
    shell.add("work")
    runs(shell.home)
    return shell


def runs(home: Path, until: timedelta = timedelta(hours=1)) -> None:
    """Let the last run have left that the account's 5-hour window ends then."""
    (work,) = book.load(home / "accounts.toml")
    now = datetime.now(UTC)
    end = now + until
    reading = Reading(window=SESSION, used=0.1, resets_at=end, status=None, sent_at=now, taken_at=now)
    state = State(home / "state.sqlite3")
    state.put(Remembered(readings={(work.id, "5h"): reading}))
    state.close()


def holds(home: Path, until: datetime) -> None:
    """Let the last run have left that the account is held until then."""
    (work,) = book.load(home / "accounts.toml")
    hold = Hold(
        account=work.id,
        family=None,
        row=13,
        until=until,
        because="7d limit",
        windows=frozenset({"7d"}),
        set_at=datetime.now(UTC),
    )
    state = State(home / "state.sqlite3")
    state.put(Remembered(holds={work.id: (hold,)}))
    state.close()


def told(*holds: dict[str, object]) -> bytes:
    """A running proxy's word on the account."""
    work: dict[str, object] = {"name": "work", "kind": "setup-token", "rank": None, "state": "held"}
    work |= {"because": "7d limit", "in_flight": 0, "requests": 0, "windows": [], "holds": list(holds)}
    return json.dumps(json.loads(EMPTY) | {"accounts": [work]}).encode()


def test_one_that_serves(shell: Shell, upstream: Upstream) -> None:
    """One request of one token of the smallest Haiku goes out with its own secret; the answer is told, and its windows."""
    upstream.script("work", ok_json("x", model=minimal.MODEL))
    done = shell.run("test", "work")

    first, second, third = done.stdout.splitlines()
    assert first == f"asking {upstream.url} directly for one token of {minimal.MODEL}, as work"
    assert re.fullmatch(rf"work answered in \d+\.\d s: {minimal.MODEL} \(request req_test[0-9a-f]+\)", second)
    assert re.fullmatch(r"its windows: 5h 10% used until .* UTC, 7d 40% used until .* UTC", third)
    assert done.stderr == ""
    (asked,) = upstream.requests
    assert json.loads(asked.body)["max_tokens"] == 1
    assert json.loads(asked.body)["model"] == minimal.MODEL


@pytest.mark.parametrize("is_running", [True, False])
def test_one_that_the_pool_holds_is_told_so(shell: Shell, upstream: Upstream, is_running: bool) -> None:
    """It serves, and yet gets nothing: until when, and what ends that, by the proxy's word or the last run's."""
    until = datetime.now(UTC) + timedelta(hours=1)
    hold = {"scope": "account", "until": until.isoformat(), "because": "7d limit", "row": 13}
    fable = hold | {"scope": "fable", "row": 12}
    upstream.script("work", ok_json("x", model=minimal.MODEL))
    if is_running:
        with listening(reply(told(hold, fable, hold | {"row": RESERVE_ROW}, hold | {"row": None})), []) as address:
            announce(shell.home, address)
            last = shell.run("test", "work", "--yes").stdout.splitlines()[-1]
    else:
        holds(shell.home, until)
        last = shell.run("test", "work", "--yes").stdout.splitlines()[-1]

    at = f"until {until:%H:%M} UTC"
    held = f"{at}, for fable {at}" if is_running else at
    assert last == f"the pool holds it {held}; to end that: flowpool lift work"


@pytest.mark.parametrize("answer", [b"", reply(b"[]"), reply(b"", "500 Oh")], ids=range(3))
def test_a_proxy_that_cannot_tell_spoils_nothing(shell: Shell, upstream: Upstream, answer: bytes) -> None:
    """The account's own answer is what was asked for."""
    upstream.script("work", ok_json("x", model=minimal.MODEL))
    with listening(answer, []) as address:
        announce(shell.home, address)
        assert len(shell.run("test", "work", "--yes").stdout.splitlines()) == 3


REFUSED = {  # row: answer, what is said, and the command
    13: (limit("5h"), r"refused after \d+\.\d s with 429: 5h limit until ", "flowpool status"),
    14: (throttle(5), "with 429: throttled for 5 s", "flowpool test work"),
    18: (bad_token(), "with 401: login refused: Invalid bearer token", "flowpool add work --replace"),
    21: (overloaded(), "with 529: overloaded", "flowpool test work"),
    23: (bad_request(), "with 400: ", "flowpool test work"),
}


@pytest.mark.parametrize("row", REFUSED)
def test_a_refusal_is_explained(shell: Shell, upstream: Upstream, row: int) -> None:
    """In the words of docs/verdicts.md, with the command that mends it; it is asked once, and another account never."""
    answer, said, command = REFUSED[row]
    upstream.script("work", answer)
    err = shell.run("test", "work", code=1).stderr

    assert re.search(said, err)
    assert err.endswith(f"(docs/verdicts.md, row {row}); run: {command}\n")
    assert len(upstream.requests) == 1


@pytest.mark.parametrize(
    ("answer", "said"),
    [(drop(), "no answer came, though it may have been worked on"), (html_200(), "is not the Messages API")],
)
def test_what_is_no_answer_is_told(shell: Shell, upstream: Upstream, answer: Answer, said: str) -> None:
    """Nobody is blamed."""
    upstream.script("work", answer)
    assert said in shell.run("test", "work", code=1).stderr


def test_nothing_listens_there(shell: Shell) -> None:
    """Nothing was sent."""
    upstream = f"http://127.0.0.1:{closed_port()}"
    (shell.home / "config.toml").write_text(f'providers.anthropic.upstream = "{upstream}"\n')
    assert shell.run("test", "work", code=1).stderr.endswith(
        f"was not reached: nothing was sent (Connection refused); run: curl -sSI {upstream}\n"
    )


def test_another_model(shell: Shell, upstream: Upstream) -> None:
    """It is asked for as it was named; that a subscription may be refused it is said."""
    upstream.script("work", bad_request("system: not allowed"))
    err = shell.run("test", "work", "--model", "claude-opus-5-5", code=1).stderr

    assert json.loads(upstream.requests[0].body)["model"] == "claude-opus-5-5"
    assert "Haiku only in Claude Code's own words" in err
    assert PLANTED not in shell.run("test", "work", "--model", f"a {PLANTED}", code=2).stderr


def test_no_window_begins_unasked(shell: Shell, upstream: Upstream) -> None:
    """Without a terminal it needs --yes, where the window has lapsed or is not known to run."""
    runs(shell.home, -timedelta(minutes=1))
    assert shell.run("test", "work", code=1).stderr == f"flowpool: {ASKS}; run: flowpool test work --yes\n"
    (shell.home / "state.sqlite3").unlink()
    assert ASKS in shell.run("test", "work", code=1).stderr
    assert list(upstream.requests) == []

    upstream.script("work", ok_json("x"))
    shell.run("test", "work", "--yes")
    assert len(upstream.requests) == 1


def test_a_person_is_asked(shell: Shell, upstream: Upstream) -> None:
    """A no sends nothing."""
    (shell.home / "state.sqlite3").unlink()
    environ = {"PATH": os.defpath, "HOME": str(shell.home), "FLOWPOOL_HOME": str(shell.home)}
    environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    with Terminal([sys.executable, "-m", "flowpool", "test", "work"], environ, ROOT) as terminal:
        terminal.until(f"{ASKS}; ask anyway? [y/N]: ")
        terminal.type("n\n")
        terminal.end(1)
    assert list(upstream.requests) == []


def test_a_key_has_no_window(shell: Shell, upstream: Upstream) -> None:
    """It is asked at once; its answer tells of none."""
    shell.add("paid", kind="api-key", secret="sk-ant-api03-paid")
    upstream.script("paid", ok_json("x", headers=()))
    assert shell.run("test", "paid").stdout.endswith("its answer tells nothing of its windows\n")


def test_what_is_over_is_renewed_by_its_own_command(shell: Shell, upstream: Upstream) -> None:
    """An access token that has ended would be refused for nothing."""
    login = {"accessToken": f"{PLANTED}-over", "refreshToken": f"{PLANTED}-refresh", "expiresAt": 1_700_000_000_000}
    shell.add("old", kind="oauth", secret=json.dumps({"claudeAiOauth": login}))
    err = shell.run("test", "old", code=1).stderr

    assert err == "flowpool: the access token of old is over; run: flowpool refresh old\n"
    assert list(upstream.requests) == []


def test_one_without_a_secret_is_named(shell: Shell) -> None:
    """By the person's name for it."""
    (shell.home / "secrets.json").unlink()

    assert "work" in shell.run("test", "work", "--yes", code=1).stderr


def test_nobody_of_that_name(shell: Shell) -> None:
    """The nearest is named."""
    assert "did you mean work?" in shell.run("test", "wrk", code=1).stderr
