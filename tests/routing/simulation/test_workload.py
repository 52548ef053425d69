"""What a turn costs, what happens when, and which family a model is of."""

import pytest

from routing.simulation.workload import Cost, family_of
from tests.routing.simulation.made import turn, use, workload


@pytest.mark.parametrize(
    ("context", "fresh", "output", "warm", "cold"),
    [
        (0, 0, 0, 0, 0),
        (1000, 0, 0, 0.05, 1.25),
        (0, 1000, 0, 1, 1),
        (0, 0, 1000, 5, 5),
        (40_000, 2000, 600, 2 + 2 + 3, 50 + 2 + 3),
    ],
)
def test_a_turn_is_charged_by_its_tokens(context: int, fresh: int, output: int, warm: float, cold: float) -> None:
    """Context is read where it is warm and written where it is not; the rest costs the same everywhere."""
    asked = turn(context=context, fresh=fresh, output=output)
    played = workload(asked, cost=Cost())

    assert played.price(asked, warm=True) == pytest.approx(warm)
    assert played.price(asked, warm=False) == pytest.approx(cold)


def test_outside_use_comes_before_turns_of_its_moment() -> None:
    """Otherwise time decides, and then the order in the file."""
    first, second, third = turn(5, "a"), turn(5, "b"), turn(1, "c")
    other = use(1, at=5)

    assert workload(first, second, third, other).events() == [third, other, first, second]


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("claude-opus-4-5-20251101", "opus"),
        ("claude-3-5-haiku-latest", "haiku"),
        ("fable", "fable"),
        ("Fable", "fable"),
        ("gpt-5", "gpt-5"),
        ("fabled", "fabled"),
    ],
)
def test_a_family_is_a_word_of_the_models_name(model: str, family: str) -> None:
    """A model of no known family is its own."""
    assert family_of(model) == family
