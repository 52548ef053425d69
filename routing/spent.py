"""What one answered request used up, in tokens by kind, and what that costs.

A cost is in tokens of fresh input, in proportion to list prices: how use counts against a plan is not published.
Fact: see docs/facts/anthropic.md#prices.
"""

from dataclasses import dataclass

READ = 0.05  # a token read from the prompt cache
FRESH = 1.0  # a token of the prompt that is neither read nor written
WRITE = 1.25  # a token written to the prompt cache
OUTPUT = 5.0  # a token of the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Tokens of one answer, each counted once."""

    read: int = 0
    fresh: int = 0
    written: int = 0
    output: int = 0

    @property
    def prompt(self) -> int:
        """How long the prompt was."""
        return self.read + self.fresh + self.written

    @property
    def cost(self) -> float:
        """What it cost."""
        return self.read * READ + self.fresh * FRESH + self.written * WRITE + self.output * OUTPUT

    def news(self, known: int) -> float:
        """What it cost beside reading what the conversation had said before: its new part and the answer.

        known: how long the conversation was after its turn before; that much of what was written is not new.
        """
        written = max(self.written - max(known - self.read, 0), 0)
        return self.fresh * FRESH + written * WRITE + self.output * OUTPUT
