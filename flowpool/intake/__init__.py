"""How a credential that somebody brings comes into the pool: asked for, checked, placed, kept."""
