"""What `flowpool doctor` looks at: one file for each part, one function for each line."""
