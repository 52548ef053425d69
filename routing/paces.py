"""How fast a conversation costs: turns per hour, each of which reads what was said before and costs something new.

Of a young conversation the averages of all are assumed, and of a young pool FIRST. Costs are those of routing.spent, for a model of
weight 1 where nothing else is said.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from routing.spent import READ, WRITE, Spent
from routing.words import AccountId, Demand, Family

REST = timedelta(minutes=15)  # a longer gap is no pace; nearly every pause within a conversation's work is shorter
DOUBT = 5.0  # turns of all conversations that a conversation's own are mixed with: the first ones say little
LASTING = 2_000.0  # turns after which the averages of all begin to forget
UNTOLD = 30_000  # tokens of a prompt whose length nobody tells
LEARNING = 0.1  # how much one answer counts in how many tokens a told one is
_RATIOS = (0.02, 4.0)  # of real tokens to told ones: an image is many bytes and few tokens
_HOUR = timedelta(hours=1)


@dataclass(slots=True)
class Turns:
    """Sums over turns: answers and what they cost beside what was read, and the gaps between them in hours."""

    answers: float = 0.0
    news: float = 0.0
    gaps: float = 0.0
    hours: float = 0.0

    def add(self, news: float, gap: timedelta | None) -> None:
        """Take in one more answer; gap: since the one before, None when the conversation had rested."""
        self.answers += 1
        self.news += news
        if gap is not None:
            self.gaps += 1
            self.hours += gap / _HOUR

    def halve(self) -> None:
        """Let what comes count more than what was."""
        self.answers, self.news, self.gaps, self.hours = self.answers / 2, self.news / 2, self.gaps / 2, self.hours / 2


FIRST = Turns(answers=10.0, news=50_000.0, gaps=10.0, hours=1 / 3)  # a turn every two minutes, which adds 5,000


@dataclass(slots=True)
class Talk:
    """One conversation with one model.

    at: when it was heard of last. account: where it was sent last; None once that refused. context: how long it is, in tokens; known:
    how long it was after its last answer, 0 before the first, which came at served_at. ratio: real tokens of its prompts to told
    ones. pledge: its pace as it stands in the sums of routing.load.
    """

    family: Family
    at: datetime
    weight: float
    ratio: float
    account: AccountId | None = None
    context: int = 0
    known: int = 0
    served_at: datetime | None = None
    turns: Turns = field(default_factory=Turns)
    pledge: int = 0

    def is_warm(self, account: AccountId, ttl: timedelta, now: datetime) -> bool:
        """Whether its cache is warm on the account."""
        return self.served_at is not None and self.account == account and now - self.served_at <= ttl


@dataclass(slots=True)
class Paces:
    """The averages of all conversations, and what follows from them for one."""

    ratio: float = 1.0
    _all: Turns = field(default_factory=Turns)

    def learn(self, talk: Talk, demand: Demand, spent: Spent, at: datetime) -> None:
        """Take in what a turn of a conversation used up."""
        if demand.tokens:
            talk.ratio = min(max(spent.prompt / demand.tokens, _RATIOS[0]), _RATIOS[1])
            self.ratio += LEARNING * (talk.ratio - self.ratio)
        gap = None if talk.served_at is None else at - talk.served_at
        gap = gap if gap is not None and timedelta() <= gap <= REST else None
        news = spent.news(talk.known or spent.read + spent.written)
        talk.turns.add(news, gap)
        self._all.add(news, gap)
        if self._all.answers > LASTING:
            self._all.halve()
        talk.context = talk.known = spent.prompt + spent.output
        talk.served_at = at

    def length(self, demand: Demand, talk: Talk | None) -> int:
        """Estimate how long a demand's prompt is, in tokens."""
        if demand.tokens:
            return round(demand.tokens * (self.ratio if talk is None else talk.ratio))
        return talk.known or UNTOLD if talk is not None else UNTOLD

    def cold_cost(self, demand: Demand, talk: Talk | None) -> float:
        """Estimate what a demand costs where no cache of its conversation is warm."""
        return (WRITE * self.length(demand, talk) + self.news(talk)) * demand.weight

    def warm_cost(self, demand: Demand, talk: Talk | None) -> float:
        """Estimate what it costs where one is."""
        return (READ * self.length(demand, talk) + self.news(talk)) * demand.weight

    def pace(self, demand: Demand, talk: Talk | None) -> float:
        """Estimate what its conversation costs per hour where its cache is warm."""
        return self.rate(talk) * self.warm_cost(demand, talk)

    def pledge(self, talk: Talk) -> int:
        """The same, without a demand."""
        return round(self.rate(talk) * (READ * talk.context + self.news(talk)) * talk.weight)

    def rate(self, talk: Talk | None) -> float:
        """Estimate a conversation's turns per hour."""
        everyone = (self._all.gaps + FIRST.gaps) / (self._all.hours + FIRST.hours)
        if talk is None:
            return everyone
        return (talk.turns.gaps + DOUBT) / (talk.turns.hours + DOUBT / everyone)

    def news(self, talk: Talk | None) -> float:
        """Estimate what a conversation's next turn costs beside what is read."""
        everyone = (self._all.news + FIRST.news) / (self._all.answers + FIRST.answers)
        if talk is None:
            return everyone
        return (talk.turns.news + DOUBT * everyone) / (talk.turns.answers + DOUBT)
