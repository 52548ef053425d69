"""Why an account comes behind the one that a free choice takes: the words for people, one file per kind of strategy."""
