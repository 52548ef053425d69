"""Who comes behind under the strategy perishing: by the first line of its law that differs, as its keys have it."""

from functools import partial

from routing.behind.taken import Behind, Taken
from routing.strategies.alone import Score
from routing.strategies.contract import Candidate
from routing.strategies.perishing import NEVER, OWN, PREFERRED, PRESSED, score, shortest

_FAR, _ENDS, _SCORE = 0, 1, 2  # of a key without its group: not near the best, the 5-hour window's reset, the score


def behind(taken: Taken) -> Behind:
    """Find what says why one comes after the first; both have a score."""
    return partial(_behind, taken, _scored(taken, taken.first))


def _behind(taken: Taken, best: Score, one: Candidate) -> str:
    own = _scored(taken, one)
    (group, *_), (first_group, *first_plain) = taken.key(one), taken.key(taken.first)
    if group == PRESSED:
        return f"under pressure, though {own.window} perishes {_told(own)}"
    if first_group == OWN:
        return _not_worth_leaving(taken, own, best)
    plain = list(taken.key(one)[1:])
    if first_group == PREFERRED and plain < first_plain:
        return f"{own.window} perishes {_soon(own, best)} {_told(own)}, but better by too little to change over from {taken.latest}"
    return taken.as_good(one) if plain == first_plain else _by_line_3(taken, one, own, best)


def _scored(taken: Taken, one: Candidate) -> Score:
    return score(one, taken.free.now) or Score(0.0, "")


def _told(own: Score) -> str:
    return f"({own.value:.3f}/h)"


def _soon(own: Score, best: Score) -> str:
    """Set two scores that are near equal beside each other."""
    nearly = "nearly as soon" if own.value < best.value else "sooner"
    return "as soon" if f"{own.value:.3f}" == f"{best.value:.3f}" else nearly


def _not_worth_leaving(taken: Taken, own: Score, best: Score) -> str:
    """Beside the conversation's own account."""
    if own.value < best.value:
        return f"{own.window} perishes later {_told(own)}"
    if own.value == best.value:
        return f"{own.window} perishes as soon {_told(own)}, but the conversation was on {taken.name}"
    return f"{own.window} perishes sooner {_told(own)}, but by too little to leave {taken.name}"


def _by_line_3(taken: Taken, one: Candidate, own: Score, best: Score) -> str:
    """Find the field of two keys that decided: far from the best, a later reset, a lower score, more use."""
    plain, first = taken.key(one)[1:], taken.key(taken.first)[1:]
    differs = next(at for at, (its, other) in enumerate(zip(plain, first, strict=False)) if its != other)
    if differs in (_FAR, _SCORE) or first[_FAR]:
        return f"{own.window} perishes later {_told(own)}"
    soon = f"{own.window} perishes {_soon(own, best)} {_told(own)}, but"
    if differs == _ENDS:
        return f"{soon} no 5h reset of it is to come" if plain[_ENDS] == NEVER else f"{soon} its 5h resets later"
    return f"{soon} {shortest(one).window.key} is more used ({plain[-1]:.0%})"
