"""What opens the door: secrets and where they are kept. Knows neither accounts' order nor vendors nor folders."""
