"""The screen of `why`: what was asked, who might serve, who was asked, how it ended, and what it cost."""

from collections.abc import Callable, Iterator
from datetime import datetime

from rich import box
from rich.console import Group, RenderableType
from rich.constrain import Constrain
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from flowpool.rows import ANSWERS, PASSED
from flowpool.story import Attempt, Choice, Stood, Story, cache
from flowpool.views.requests import WELL, amount, seconds
from flowpool.views.status import clock

type Local = Callable[[datetime], datetime]

WIDEST = 100  # columns
INDENT = 3
KB, MB = 1000, 1_000_000
OK_ROW = 8
IN_FLIGHT = "in flight"
UNKNOWN = "What was known when it came, who might serve and why, is no longer kept; this is what the ledger still says."


def view(story: Story, now: datetime, local: Local = datetime.astimezone) -> RenderableType:
    """Draw it; local turns a moment into the wall clock's time."""
    parts: list[RenderableType] = [_asked(story, now, local)]
    if not story.kept:
        parts.append(Text(UNKNOWN, style="yellow"))
    for number, choice in enumerate(story.choices, 1):
        parts += [Text(), *_choice(number, choice, story, now, local)]
    if story.attempts:
        parts += [Text(), _set_in(_attempts(story))]
    return Constrain(Group(*parts, Text(), *_end(story)), WIDEST)


def _asked(story: Story, now: datetime, local: Local) -> Text:
    words = [f"{story.model} ({story.family})" if story.family and story.family != story.model else story.model]
    words += [] if story.model else [story.path]
    words += [] if story.streams is None else ["stream" if story.streams else "whole answer"]
    words += [] if story.size is None else [_size(story.size)]
    words += [f"session {story.session}"] if story.session else []
    words += [f"conversation {story.conversation}"] if story.conversation else []
    words += [f"warm on {story.warm}"] if story.warm else [f"gone cold on {story.home}"] if story.home else []
    line = Text.assemble((story.id, "bold"), f"  {clock(story.at, now, local)}:{local(story.at):%S}  ")
    return line.append(", ".join(word for word in words if word))


def _choice(number: int, choice: Choice, story: Story, now: datetime, local: Local) -> Iterator[RenderableType]:
    at = f"{local(choice.at):%H:%M:%S}"
    times = f" ({choice.times} times)" if choice.times > 1 else ""
    end = "" if choice.until is None else f"{clock(choice.until, now, local)}:{local(choice.until):%S}"
    what = {"use": choice.account, "wait": f"waits until {end}", "give_up": "gives up"}.get(choice.kind, choice.kind)
    recovers = f" (the first recovers at {end})" if end and choice.kind == "give_up" else ""
    yield Text.assemble(f"{number}. {at} ", (what, "bold"), f": {choice.because}{times}{recovers}")
    if choice.accounts:
        if story.strategy and any(one.order is not None for one in choice.accounts):
            yield Padding(Text(f"ordered by {story.strategy}"), (0, 0, 0, INDENT))
        yield _set_in(_accounts(choice.accounts, choice.account, now, local))


def _accounts(accounts: tuple[Stood, ...], chosen: str, now: datetime, local: Local) -> Table:
    table = _table()
    table.add_column("account", overflow="fold", max_width=32)
    table.add_column("may", no_wrap=True)
    table.add_column("order", no_wrap=True, justify="right")
    table.add_column("used", overflow="fold", max_width=24)
    table.add_column("because", overflow="fold", ratio=1)
    for one in accounts:
        style = "green" if one.account == chosen and one.may else "" if one.may else "bright_black"
        cells = (one.account, "yes" if one.may else "no", str(one.order or "-"), _used(one), _why(one, now, local))
        table.add_row(*(Text(cell, style=style) for cell in cells))
    return table


def _used(one: Stood) -> str:
    return ", ".join(f"{key} {used:.0%}" for key, used in one.windows.items()) or "-"


def _why(one: Stood, now: datetime, local: Local) -> str:
    words = one.because
    if one.until is not None and " until " not in words:
        words = f"{words}, until {clock(one.until, now, local)}"
    return f"{words}; {one.in_flight} in flight" if one.in_flight and IN_FLIGHT not in words else words


def _attempts(story: Story) -> Table:
    table = _table()
    for heading in ("asked", "answer", "meant", "waited", "took"):
        table.add_column(heading, no_wrap=True, justify="right" if heading in ("waited", "took") else "left")
    table.add_column("because", overflow="fold", ratio=1)
    for one in story.attempts:
        style = "" if one.row == OK_ROW else "yellow"
        table.add_row(*(Text(cell, style=style) for cell in _attempt(one)))
    return table


def _attempt(one: Attempt) -> tuple[str, ...]:
    meant = one.verdict if one.row is None else f"{one.verdict}, row {one.row}"
    waited = "-" if not one.waited else seconds(one.waited)
    status = "none" if one.status is None else str(one.status)
    return one.account, status, meant, waited, seconds(one.took), one.because or "-"


def _end(story: Story) -> Iterator[RenderableType]:
    style = "green" if story.ended in WELL else "yellow"
    words = [] if story.status is None else [str(story.status)]
    words += [f"first byte after {seconds(story.first_byte)}"] if story.first_byte is not None else []
    words += [f"all of it {seconds(story.total)}"] if story.total is not None else []
    words += [f"waited {seconds(story.waited)}"] if story.waited else []
    often = "once" if story.heartbeats == 1 else f"{story.heartbeats} times"
    words += [f"its client was told {often} that it waits"] if story.heartbeats else []
    by = f" by {story.account}" if story.account else ""
    ended = story.ended.replace("_", " ") + by
    yield Text.assemble((ended, style), f": {', '.join(words)}" if words else "")
    if story.answer == PASSED:
        yield Text("It went out on the client's own login.")
    elif story.answer:
        yield Text(f"flowpool refused: {ANSWERS.get(story.answer, f'answer {story.answer}')}. {story.because}")
    if story.usage is None:
        yield Text("What it cost was not told.", style="bright_black")
        return
    parts = ("read", "fresh", "written", "output")
    cost = ", ".join(f"{amount(getattr(story.usage, part))} {part}" for part in parts)
    yield Text(f"cost in tokens: {cost}; {cache(story)}")


def _table() -> Table:
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)


def _set_in(table: Table) -> Padding:
    return Padding(table, (0, 0, 0, INDENT), expand=False)


def _size(size: int) -> str:
    return f"{size} B" if size < KB else f"{size / KB:.1f} kB" if size < MB else f"{size / MB:.1f} MB"
