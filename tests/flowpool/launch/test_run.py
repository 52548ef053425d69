"""run starts Claude Code with what it needs, and is gone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpool.launch.run import ACCOUNT, FLAGS, fenced, misplaced
from providers.anthropic.placeholder import PLACEHOLDER
from tests.flowpool.launch.pooled import ALONE, KEYS, Pooled

# Whose words they are

WORDS = [
    ([], []),
    (["-p", "hi"], ["--", "-p", "hi"]),
    (["--", "--direct"], ["--", "--direct"]),
    (["--direct", "-p", "hi"], ["--direct", "--", "-p", "hi"]),
    (["--account", "work", "--resume", "x"], ["--account", "work", "--", "--resume", "x"]),
    (["--account=work", "--forward"], ["--account=work", "--forward"]),
    (["fix it", "--direct"], ["--", "fix it", "--direct"]),
    (["--continue", "--direct"], ["--", "--continue", "--direct"]),
    (["--help"], ["--help"]),
    (["--", "--help"], ["--", "--help"]),
    (["-p", "--", "x"], ["--", "-p", "--", "x"]),
    (["--account"], ["--account"]),
]


@pytest.mark.parametrize(("typed", "wanted"), WORDS)
def test_ours_end_at_the_first_word_that_is_none_of_ours(typed: list[str], wanted: list[str]) -> None:
    """From there on all is Claude Code's, also what is called like ours."""
    assert fenced(typed) == wanted


ours = st.lists(st.sampled_from([(flag,) for flag in sorted(FLAGS)] + [(ACCOUNT, "work"), (f"{ACCOUNT}=work",)]))
words = st.sampled_from(["-p", "hi", "--direct", "--model", ACCOUNT, "--", "", "-", "--help", "two words"])


@given(ours, st.lists(words))
def test_claude_codes_words_are_untouched(before: list[tuple[str, ...]], after: list[str]) -> None:
    """After `--`, whatever they are."""
    typed = [word for option in before for word in option] + ["--", *after]

    assert fenced(typed) == typed


@pytest.mark.parametrize("typed", [("-p", "say hi"), ("--", "-p", "--help"), ("--", "--account", "x", "--", "$HOME")])
def test_arguments_arrive_as_they_were_typed(it: Pooled, typed: tuple[str, ...]) -> None:
    """With `--` and without."""
    assert it.start("run", *typed).arguments == [*typed[typed[0] == "--" :]]


def test_help_is_ours_before_the_dashes(it: Pooled) -> None:
    """And Claude Code's after them."""
    assert "--account NAME" in it.shell.run("run", "--help").stdout
    assert it.claude.starts() == []
    assert it.start("run", "--", "--help").arguments == ["--help"]


# What it gets


def test_it_finds_the_pool_and_keeps_its_login(it: Pooled) -> None:
    """Where the proxy really listens, without a key, and with what the person set."""
    it.shell.environ |= {"CLAUDE_CODE_OAUTH_TOKEN": "mine", "ENABLE_TOOL_SEARCH": "auto"}
    environ = it.start("run").environ

    assert environ["ANTHROPIC_BASE_URL"] == it.url
    assert environ["CLAUDE_CODE_ENABLE_FINE_GRAINED_TOOL_STREAMING"] == "1"
    assert (environ["CLAUDE_CODE_OAUTH_TOKEN"], environ["ENABLE_TOOL_SEARCH"]) == ("mine", "auto")
    assert it.heard[0].startswith(b"GET /_flowpool/health ")


@pytest.mark.parametrize("name", KEYS)
def test_no_api_key_reaches_it(it: Pooled, name: str) -> None:
    """That it was there is told in one line, which does not quote it."""
    it.shell.environ[name] = KEYS[name]
    answer = it.shell.run("run")

    assert name not in it.claude.start().environ
    assert answer.stderr.splitlines() == [
        f"flowpool: {name} is set, and not passed on: with it Claude Code would not use a login"
    ]


def test_a_client_without_a_login_gets_the_placeholder(it: Pooled, tmp_path: Path) -> None:
    """One with a login gets nothing; that nobody's identity stands behind it is told in one line."""
    it.shell.add("work")
    assert "CLAUDE_CODE_OAUTH_TOKEN" not in it.start("run").environ

    (tmp_path / "client" / ".credentials.json").unlink()
    answer = it.shell.run("run")
    assert it.claude.starts()[-1].environ["CLAUDE_CODE_OAUTH_TOKEN"] == PLACEHOLDER
    assert answer.stderr == (
        "flowpool: no account is the primary, so what is bound to an identity is refused; run: flowpool primary NAME\n"
    )
    it.shell.run("primary", "work")
    assert it.shell.run("run").stderr == ""


def test_without_an_account_and_a_login_nothing_is_started(it: Pooled, tmp_path: Path) -> None:
    """Neither Claude Code nor a proxy: it could only fail. Without an account alone, the client's login passes through."""
    assert it.start("run").environ["ANTHROPIC_BASE_URL"] == it.url

    (tmp_path / "client" / ".credentials.json").unlink()
    (it.shell.home / "running.json").unlink()
    said = it.shell.run("run", "-p", "hi", code=1).stderr
    assert said == "flowpool: the pool has no account yet; run: flowpool login NAME\n"
    assert len(it.claude.starts()) == 1
    assert not (it.shell.home / "running.json").exists()


@pytest.mark.parametrize(
    ("typed", "word"),
    [
        (["-p", "x", "--resume-on-limit"], "--resume-on-limit"),
        (["-p", "--account=work", "--direct"], "--account=work"),
        (["--forward", "-p", "x", "--account", "work"], "--account"),
        (["-p", "x", "--", "--direct"], ""),
        (["--", "-p", "--direct"], ""),
        (["--account", "--direct", "-p"], ""),
        (["--direct", "-p"], ""),
        (["--account"], ""),
    ],
)
def test_an_option_of_ours_among_claude_codes_is_noticed(typed: list[str], word: str) -> None:
    """Unless a `--` says that it is meant so."""
    assert misplaced(typed) == word


def test_a_misplaced_option_is_told_and_passed(it: Pooled) -> None:
    """One line; Claude Code may know what it means."""
    answer = it.shell.run("run", "-p", "hi", "--resume-on-limit")

    assert it.claude.start().arguments == ["-p", "hi", "--resume-on-limit"]
    assert answer.stderr == (
        "flowpool: --resume-on-limit is passed to Claude Code: flowpool's own options come before all of Claude Code's\n"
    )


def test_an_account_is_asked_for_by_a_header(it: Pooled) -> None:
    """Beside the person's own, and in place of what a launch around it asked for."""
    it.shell.add("work")
    it.shell.environ["ANTHROPIC_CUSTOM_HEADERS"] = "X-Corp: 1\nX-Flowpool-Pin: home"
    assert it.start("run").environ["ANTHROPIC_CUSTOM_HEADERS"] == "X-Corp: 1"

    environ = it.start("run", "--account", "work", "-p").environ
    assert environ["ANTHROPIC_CUSTOM_HEADERS"] == "X-Corp: 1\nx-flowpool-pin: work"


def test_an_account_that_cannot_serve_is_not_asked_for(it: Pooled) -> None:
    """Nothing is started, and what to do is said."""
    it.shell.add("work")
    it.shell.run("disable", "work")

    assert "did you mean work" in it.shell.run("run", "--account", "wrk", code=1).stderr
    assert "flowpool enable work" in it.shell.run("run", "--account", "work", code=1).stderr
    assert "a secret is never an argument" in it.shell.run("run", "--account", "sk-ant-x", code=2).stderr
    assert it.claude.starts() == []


def test_the_key_is_handed_on_where_it_is_needed(it: Pooled) -> None:
    """The one for clients; what opens the proxy's own paths stays here."""
    it.config("admit.key = true\n")
    environ = it.start("run").environ
    key = (it.shell.home / "client.key").read_text().strip()

    assert environ["ANTHROPIC_CUSTOM_HEADERS"] == f"x-flowpool-key: {key}"
    assert (it.shell.home / "control.key").read_text().strip() not in str(environ)


def test_its_code_is_the_commands(it: Pooled) -> None:
    """Whatever it is."""
    for code in (0, 1, 7, 130):
        type(it.claude)(it.claude.path, f"sys.exit({code})")
        it.shell.run("run", code=code)


def test_management_runs_untouched(it: Pooled) -> None:
    """No proxy is asked or started, and even what we would take away stays."""
    it.shell.environ |= KEYS
    start = it.start("run", "mcp", "list")

    assert start.arguments == ["mcp", "list"]
    assert start.environ["ANTHROPIC_API_KEY"] == KEYS["ANTHROPIC_API_KEY"]
    assert "ANTHROPIC_BASE_URL" not in start.environ
    assert it.heard == []


@ALONE
def test_without_claude_code_nothing_is_started(it: Pooled) -> None:
    """How to get it is said."""
    it.claude.path.unlink()

    assert "npm install -g @anthropic-ai/claude-code" in it.shell.run("run", code=1).stderr


def test_the_link_on_the_path_is_passed_over(it: Pooled) -> None:
    """The real one is started at once."""
    it.shell.run("link")
    it.shell.environ["PATH"] = f"{it.shell.home / 'bin'}:{it.shell.environ['PATH']}"

    assert it.start("run", "-p").program == str(it.claude.path)


def test_directly_goes_with_nothing_of_the_pools(it: Pooled) -> None:
    """Options that need it are refused."""
    for option in ("--forward", "--resume-on-limit"):
        assert "leave out" in it.shell.run("run", "--direct", option, code=2).stderr


@pytest.mark.parametrize("arguments", [("--help",), ("env",), ("run", "-p"), ("link",), ("primary",)])
def test_nothing_asks_windows_who_it_is(it: Pooled, arguments: tuple[str, ...]) -> None:
    """X107: `platform.system()` and its like may block there for minutes; and an old console gets all of it."""
    code = (
        "import platform, sys\n"
        "for name in ('system', 'uname', 'machine', 'node', 'release', 'version', 'platform', 'win32_ver'):\n"
        "    setattr(platform, name, lambda *_: sys.exit(99))\n"
        "from flowpool.main import main\nmain()"
    )
    it.config("")
    environ = {**it.shell.environ, "FLOWPOOL_HOME": str(it.shell.home), "HOME": str(it.shell.home)}
    line = [sys.executable, "-P", "-c", code, *arguments]
    done = subprocess.run(
        line, env=environ | {"PYTHONIOENCODING": "cp1252"}, capture_output=True, timeout=60, check=False
    )

    assert done.returncode == 0, done.stderr
