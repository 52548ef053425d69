"""An agent says what it is to say, whatever the paths are."""

import plistlib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from flowpool.launch import launchd
from flowpool.launch.program import Program

TEXT = st.text(st.characters(min_codepoint=32, exclude_categories=["Cs", "Cn"]))


def test_it_is_this() -> None:
    """Every key, for a person to look at."""
    program = Program(
        python="/opt/<py>&/python", stop_s=75.4, log=Path("/logs/service.log"), environment={"FLOWPOOL_HOME": "/a b"}
    )

    assert plistlib.loads(launchd.agent(program)) == {
        "Label": "io.github.flowpool.proxy",
        "ProgramArguments": ["/opt/<py>&/python", "-P", "-m", "flowpool", "serve"],
        "EnvironmentVariables": {"FLOWPOOL_HOME": "/a b", "FLOWPOOL_SERVICE": "launchd"},
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 1,
        "ExitTimeOut": 75,
        "ProcessType": "Interactive",
        "StandardErrorPath": "/logs/service.log",
    }


@given(python=TEXT, home=TEXT)
def test_what_it_sets_is_read_again(python: str, home: str) -> None:
    """Whatever is in it."""
    program = Program(python=python, stop_s=75, log=Path("/l"), environment={"FLOWPOOL_HOME": home})
    text = launchd.agent(program)

    assert launchd.environment(text) == {"FLOWPOOL_HOME": home}
    assert plistlib.loads(text)["ProgramArguments"][0] == python


@given(text=st.binary())
def test_what_is_no_agent_of_ours_is_told(text: bytes) -> None:
    """Bytes, and lists of others."""
    assert launchd.environment(text) is None
    assert launchd.environment(plistlib.dumps({"Label": launchd.LABEL})) is None
    assert (
        launchd.environment(plistlib.dumps({"Label": "x", "EnvironmentVariables": {"FLOWPOOL_SERVICE": "y"}})) is None
    )
    assert launchd.environment(plistlib.dumps([])) is None
