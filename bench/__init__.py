"""Speed, measured: what flowpool adds to bare mitmdump, side by side in one run."""
