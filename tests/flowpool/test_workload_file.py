"""A workload is read as it stands, or refused in one line that names the key."""

import json
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from flowpool.errors import WrongFileError
from flowpool.workload_file import convert, read
from routing.simulation.workload import Cost, Outside, Plan, Turn, Workload

GOOD: dict[str, Any] = {
    "accounts": [
        {"name": "ann", "size": 5, "window_5h": 100, "week": 600, "week_resets_at": 3600, "models": {"fable": 0.5}}
    ],
    "turns": [
        {"at": 1.5, "conversation": "c", "model": "opus", "context": 9, "fresh": 8, "output": 7, "ttl": 300},
        {"at": 2, "conversation": "c", "model": "opus", "context": 9, "fresh": 8, "output": 7, "ttl": 300},
    ],
    "outside": [{"at": 5, "account": "ann", "units": 2}],
    "cost": {"read": 0.1, "fresh": 2, "write": 3, "output": 4},
    "unit_tokens": 1000,
}
GONE = object()

type Place = tuple[str | int, ...]


def changed(place: Place, value: object) -> bytes:
    """The good workload with another value in one place."""
    tree = deepcopy(GOOD)
    inner: Any = tree
    for key in place[:-1]:
        inner = inner[key]
    if value is GONE:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    return json.dumps(tree).encode()


def test_a_file_is_read_as_it_stands(tmp_path: Path) -> None:
    """All keys, and none that is not known."""
    path = tmp_path / "w.json"
    path.write_bytes(changed(("seed",), 7))

    assert read(str(path)) == Workload(
        accounts=(Plan(name="ann", size=5, window_5h=100, week=600, week_resets_at=3600, models={"fable": 0.5}),),
        turns=(
            Turn(at=1.5, conversation="c", model="opus", context=9, fresh=8, output=7, ttl=300),
            Turn(at=2, conversation="c", model="opus", context=9, fresh=8, output=7, ttl=300),
        ),
        outside=(Outside(at=5, account="ann", units=2),),
        cost=Cost(read=0.1, fresh=2, write=3, output=4),
        unit_tokens=1000,
    )
    assert convert(GOOD) == read(str(path))


def test_some_keys_may_be_left_out(tmp_path: Path) -> None:
    """Nothing outside, the usual costs, plans of one size without limits for families."""
    path = tmp_path / "w.json"
    plan = {key: GOOD["accounts"][0][key] for key in ("name", "window_5h", "week", "week_resets_at")}
    path.write_text(json.dumps({"accounts": [plan], "turns": [], "unit_tokens": 1}))
    found = read(str(path))

    assert (found.outside, found.cost) == ((), Cost(read=0.05, fresh=1, write=1.25, output=5))
    assert (found.accounts[0].size, found.accounts[0].models) == (1, {})


@pytest.mark.parametrize(
    ("place", "written", "means"),
    [
        (("turns", 0, "conversation"), 7, "7"),
        (("turns", 0, "context"), 9.5, 9.5),
        (("turns", 0, "output"), 7.0, 7),
        (("outside",), None, []),
        (("cost",), None, {}),
        (("accounts", 0, "models"), None, {}),
        (("accounts", 0, "size"), None, 1),
    ],
    ids=range(7),
)
def test_what_programs_write_is_read(tmp_path: Path, place: Place, written: object, means: object) -> None:
    """Conversations that are numbers, tokens that are no whole ones, and null for what may be left out."""
    path = tmp_path / "w.json"
    path.write_bytes(changed(place, written))

    assert read(str(path)) == convert(json.loads(changed(place, means)))


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    """It is not there, or a folder: the path and what to run."""
    with pytest.raises(WrongFileError) as misspelt:
        read("ofice", kinds=("night", "office"))
    with pytest.raises(WrongFileError) as strange:
        read("none.json", kinds=("night", "office"))
    with pytest.raises(WrongFileError) as caught:
        read(str(tmp_path))

    assert str(misspelt.value) == (
        "ofice: there is no such file, and no kind of that name; did you mean office? the kinds are: night, office"
    )
    assert str(strange.value) == (
        "none.json: there is no such file, and no kind of that name; the kinds are: night, office"
    )
    assert str(caught.value) == f"{tmp_path}: Is a directory; run: ls -ld '{tmp_path}'"


@pytest.mark.parametrize(
    ("place", "told"),
    [
        (("turns", 1, "contxt"), ["turns[1].contxt (did you mean context?)"]),
        (("accounts", 0, "modls"), ["accounts[0].modls (did you mean models?)"]),
        (("cost", "raed"), ["cost.raed (did you mean read?)"]),
        (("turns", 0, "request_id"), []),
        (("seed",), []),
    ],
    ids=range(5),
)
def test_a_misspelt_key_is_told(tmp_path: Path, place: Place, told: list[str]) -> None:
    """In one line, also where what it was meant for is then missing; what the format may grow by is passed over."""
    known = {"contxt": "context", "modls": "models", "raed": "read"}.get(str(place[-1]))
    tree = json.loads(changed((*place[:-1], known) if known else ("seed",), GONE if known else 1))
    inner: Any = tree
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = 0.5
    path = tmp_path / "w.json"
    heard: list[str] = []
    path.write_text(json.dumps(tree))
    with suppress(WrongFileError):
        read(str(path), tell=heard.append)

    assert heard == [f"{path}: passed over, as there is no such key: {one}" for one in told]


BAD: list[tuple[Place, object, str]] = [
    (("turns", 1, "at"), GONE, "turns[1].at: is missing"),
    (("unit_tokens",), GONE, "unit_tokens: is missing"),
    (("unit_tokens",), 0, "unit_tokens: 0 is not from 1e-09 to 1e+15"),
    (("turns", 1, "at"), "5", "turns[1].at: Expected `float`, got `str`"),
    (("turns", 1, "at"), -5, "turns[1].at: -5 is not from 0 to 3.16224e+08"),
    (("turns", 0, "ttl"), 1e300, "turns[0].ttl: 1e+300 is not from 0 to 3.16224e+08"),
    (("turns", 0, "context"), "9", "turns[0].context: Expected `int | float`, got `str`"),
    (("turns", 0, "conversation"), None, "turns[0].conversation: is missing"),
    (("turns", 0, "conversation"), True, "turns[0].conversation: Expected `str`, got `bool`"),
    (("turns", 0, "fresh"), -1, "turns[0].fresh: -1 is not from 0 to 1e+15"),
    (("turns", 0, "output"), 10**30, "turns[0].output: 1e+30 is not from 0 to 1e+15"),
    (("turns", 0, "model"), 5, "turns[0].model: Expected `str`, got `int`"),
    (("turns",), {}, "turns: Expected `array`, got `object`"),
    (("accounts",), [], "accounts: there are none"),
    (("accounts",), [GOOD["accounts"][0]] * 2, "accounts[0].name: 'ann' is the name of two"),
    (("accounts", 0, "window_5h"), 0, "accounts[0].window_5h: 0 is not from 1e-09 to 1e+15"),
    (("accounts", 0, "week"), -1, "accounts[0].week: -1 is not from 1e-09 to 1e+15"),
    (("accounts", 0, "week_resets_at"), 1e12, "accounts[0].week_resets_at: 1e+12 is not from -3.16224e+08 to"),
    (("accounts", 0, "models"), {"fable": 1.1}, "accounts[0].models['fable']: 1.1 is not from 0 to 1"),
    (("accounts", 0, "models"), {"": 0.5}, "accounts[0].models: '' is no model"),
    (("accounts", 0, "models"), {"\x1b[2J": 2}, "accounts[0].models['\\x1b[2J']: 2 is not from 0 to 1"),
    (("accounts", 0, "models"), {"fable": 1, "claude-fable-5": 1}, "accounts[0].models: 'fable' is named twice"),
    (("outside", 0, "account"), "ben", "outside[0].account: there is no account 'ben'"),
    (("outside", 0, "units"), -2, "outside[0].units: -2 is not from 0 to 1e+15"),
    (("cost", "read"), -1, "cost.read: -1 is not from 0 to 1e+15"),
]


@pytest.mark.parametrize(("place", "value", "said"), BAD, ids=range(len(BAD)))
def test_what_makes_no_sense_is_named_by_its_key(tmp_path: Path, place: Place, value: object, said: str) -> None:
    """The file, the key, and what is wrong with it."""
    path = tmp_path / "w.json"
    path.write_bytes(changed(place, value))
    with pytest.raises(WrongFileError) as caught:
        read(str(path))

    assert str(caught.value).startswith(f"{path}: {said}")
    assert str(caught.value).endswith("; what a workload holds, says: flowpool simulate --help")


@pytest.mark.parametrize("data", [b"", b'{"accounts": ', b"[" * 100_000, b"\xff", b'{"unit_tokens": NaN}', b'"\xff"'])
def test_what_is_no_json_is_one_line(tmp_path: Path, data: bytes) -> None:
    """Cut off, too deep, or no text."""
    path = tmp_path / "w.json"
    path.write_bytes(data)
    with pytest.raises(WrongFileError) as caught:
        read(str(path))

    assert "\n" not in str(caught.value)
