"""`python -m flowpool`."""

from flowpool.main import main

main()
