"""The providers that flowpool serves; one that is not listed here is neither reached nor masked."""

from providers.anthropic import ANTHROPIC
from providers.contract import Provider

KNOWN: tuple[Provider, ...] = (ANTHROPIC,)
