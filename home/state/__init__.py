"""What the pool remembers on the disk: readings, holds, habits and the ledger of requests, in one SQLite file."""
