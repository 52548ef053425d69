"""Those before this proxy are known by a pipe that each holds, not by a number that another program may get."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from addons import predecessors
from addons.predecessors import ENDS, ENDS_NOW, Predecessors

HOLDS = """
import os, signal, sys
for number in (signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(number, lambda number, _: os.write(1, b"%d\\n" % number))
os.write(1, b"on\\n")
sys.stdin.read()
"""
BECOMES = "import os, sys; print('on', flush=True); os.execv(sys.executable, [sys.executable, '-I', '-c', 'import sys; sys.stdin.read()'])"


def before(program: str) -> tuple["subprocess.Popen[bytes]", Predecessors]:
    """A process that came before, as a successor knows it."""
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", f"import os\nos.set_inheritable({writer}, False)\n{program}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=[writer],
    )
    os.close(writer)
    assert process.stdout is not None
    assert process.stdout.readline() == b"on\n"
    return process, Predecessors([(process.pid, reader)])


def test_one_is_at_work_until_it_has_ended() -> None:
    """Then its descriptor is closed, and nobody is signalled."""
    process, found = before(HOLDS)
    with process:
        assert found.pids() == [process.pid]
        ((_, reader),) = found.at_work()
    assert found.pids() == []
    assert not Path(f"/proc/self/fd/{reader}").exists()
    found.end(now=True)


def test_one_that_only_follows_is_at_work_no_more() -> None:
    """It is the same process by its id and by its birth, and a small program by now, to which no signal must go."""
    process, found = before(BECOMES)
    with process:
        while found.pids():
            pass  # an exec away
        assert process.poll() is None
        found.end()
        assert process.communicate()[0] == b""
    assert process.returncode == 0


def test_each_is_told_to_end_and_how() -> None:
    """By signals that no terminal sends, so that none of them counts for a person's second one."""
    process, found = before(HOLDS)
    assert (ENDS, ENDS_NOW) == (signal.SIGUSR1, signal.SIGUSR2)
    with process:
        assert process.stdout is not None
        for now, number in ((False, signal.SIGUSR1), (True, signal.SIGUSR2)):
            found.end(now=now)
            assert process.stdout.readline() == b"%d\n" % number


def test_what_is_no_descriptor_is_nobody() -> None:
    """And without any there is nothing to look at."""
    assert Predecessors([(4711, 99_999)]).at_work() == ()
    assert predecessors.known().at_work() == ()
    assert predecessors.known() is predecessors.known()
