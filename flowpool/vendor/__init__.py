"""The vendor's own program, which alone logs in."""
