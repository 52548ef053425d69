"""The keychain item is read through `security`, of which a stand-in on the PATH has the shape."""

import os
from pathlib import Path

import pytest

from home import keychain
from home.keychain import KeychainError

TEXT = '{"claudeAiOauth": {"accessToken": "sk-ant-oat01-KEYCHAIN"}}'


def standin(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Path:
    """Put a `security` on the PATH that notes its arguments; return where."""
    program, notes = folder / "security", folder / "notes"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {notes}\n{script}\n')
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.defpath}")
    return notes


def test_the_item_is_called_after_the_folder() -> None:
    """Without a folder of its own it has no ending; a name that is written in two ways is one."""
    assert keychain.service() == "Claude Code-credentials"
    assert keychain.service(Path("/home/me/x")) == "Claude Code-credentials-575a49cb"
    assert keychain.service(Path("/caf\u00e9")) == keychain.service(Path("/cafe\u0301"))
    assert keychain.service(Path("/a")) != keychain.service(Path("/b"))


@pytest.mark.parametrize("out", [TEXT, TEXT.encode().hex()], ids=["text", "hex"])
def test_what_it_holds_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str) -> None:
    """By its name, as text, or as hex digits, which the program may choose."""
    notes = standin(tmp_path, monkeypatch, f"echo '{out}'")
    found = keychain.read("Claude Code-credentials")

    assert found is not None
    assert found.reveal() == TEXT
    assert notes.read_text().splitlines() == ["find-generic-password", "-s", "Claude Code-credentials", "-w"]


def test_no_item_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither to read nor to forget."""
    notes = standin(tmp_path, monkeypatch, "exit 44")
    assert keychain.read("x") is None
    keychain.forget("x")

    assert notes.read_text().splitlines()[4:] == ["delete-generic-password", "-s", "x"]


@pytest.mark.parametrize("script", [f"echo '{TEXT}'; exit 1", "echo '{}'; echo sk-ant-oat01-KEYCHAIN >&2; exit 36"])
def test_a_refusal_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """With the code and what to look at, and nothing of what was written."""
    standin(tmp_path, monkeypatch, script)
    for ask in (keychain.read, keychain.forget):
        with pytest.raises(KeychainError) as caught:
            ask("x")
        assert 'the keychain item "x" cannot be read: security ended with code ' in str(caught.value)
        assert "KEYCHAIN" not in str(caught.value)
        assert caught.value.__cause__ is None


def test_a_dialog_that_nobody_answers_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time is bounded, and so is that of a machine without the program."""
    standin(tmp_path, monkeypatch, "exec tail -f /dev/null")
    with pytest.raises(KeychainError, match=r"no answer within 0\.2 s"):
        keychain.read("x", patience=0.2)
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    with pytest.raises(KeychainError, match="No such file"):
        keychain.read("x")


@pytest.mark.parametrize(("code", "wanted"), [(0, True), (44, False)])
def test_whether_it_is_there_is_asked_without_a_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, wanted: bool
) -> None:
    """No person is asked to allow that; another code tells nothing."""
    notes = standin(tmp_path, monkeypatch, f"exit {code}")
    assert keychain.has("x") == wanted
    assert notes.read_text().splitlines() == ["find-generic-password", "-s", "x"]

    standin(tmp_path, monkeypatch, "exit 36")
    with pytest.raises(KeychainError):
        keychain.has("x")
