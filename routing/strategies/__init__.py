"""Ways to like one account better than another, one per file; routing.scoring lists them by name."""
