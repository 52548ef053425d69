"""`flowpool start`: a proxy in the background, once."""

import json
import os
import socket
from pathlib import Path

import pytest

from home import running
from tests.flowpool.cli import Shell
from tests.flowpool.living import CONFIG, quiet, serving


def test_a_proxy_is_started_once_and_is_nobodys_child(shell: Shell) -> None:
    """It has a session of its own and no standard input; a second start says where the first one is."""
    with quiet(shell) as home:
        said = shell.run("start").stdout
        found = serving(home)
        where = f"on http://{found.listen['claude']} (pid {found.pid})"
        assert said == f"a proxy runs {where}; it is ended by: flowpool stop\n"
        assert shell.run("start").stdout == f"a proxy runs already {where}\n"
        assert os.getsid(found.pid) == found.pid
        assert Path(f"/proc/{found.pid}/fd/0").readlink() == Path(os.devnull)
        assert shell.run("stop").stdout == f"the proxy (pid {found.pid}) has ended\n"
        assert not running.is_there(found)


def test_why_it_does_not_start_is_quoted(shell: Shell) -> None:
    """By the words that it would have said on the screen; nothing is left of it."""
    with quiet(shell) as home:
        home.config.write_text("[listen]\nclaude = 'nowhere'\n")
        said = shell.run("start", code=1).stderr
        assert said.startswith("flowpool: the proxy did not start: ")
        assert "listen" in said
        assert said.endswith("; to see all of it, run: flowpool serve\n")
        assert running.left(home.running) is None


def test_a_file_of_a_process_that_is_another_by_now_is_no_proxy(shell: Shell, tmp_path: Path) -> None:
    """X109: a reused process id is told from the proxy that had it, and nobody is signalled."""
    with quiet(shell) as home:
        shell.run("start")
        found = serving(home)
        shell.run("stop", "--now")
        document = {
            "pid": os.getpid(),
            "listen": {"claude": "127.0.0.1:9"},
            "started": found.started.isoformat(),
            "born": found.born,
        }
        home.running.write_text(json.dumps(document))
        assert "a proxy runs on" in shell.run("start").stdout
        assert serving(home).pid != os.getpid()
    assert tmp_path.exists()


@pytest.mark.parametrize(("host", "family"), [("127.0.0.1", 4), ("0.0.0.0", 4), ("::", 6)])
def test_a_taken_port_names_its_owner_and_no_other_is_taken(shell: Shell, host: str, family: int) -> None:
    """X102: clients hold the address, so a proxy never moves; whoever has it may listen on all addresses."""
    kind = socket.AF_INET6 if family == 6 else socket.AF_INET
    with quiet(shell) as home, socket.socket(kind) as holder:
        if family == 6:
            holder.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        holder.bind((host, 0))
        holder.listen()
        taken = f"127.0.0.1:{holder.getsockname()[1]}"
        home.config.write_text(CONFIG.replace("127.0.0.1:0", taken))
        said = shell.run("start", code=1).stderr
        assert f"{taken} is taken by " in said
        assert f"(pid {os.getpid()}); stop it" in said
        assert running.left(home.running) is None
