"""The pretended world that routing.simulator plays in; nothing of it is known to the Router."""
