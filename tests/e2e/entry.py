"""What a forked `flowpool` begins with: standard streams that know what they write to by now."""

import sys

from flowpool.main import main


def run() -> None:
    """Run the command line, as its own interpreter would."""
    sys.stdout = open(1, "w", buffering=1, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", closefd=False)  # noqa: SIM115
    main()
