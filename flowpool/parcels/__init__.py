"""Accounts with their secrets, sealed for another machine."""
