"""Who should serve this request: pure decisions over values, told the time, never asking it."""
