"""What each service is like: its hosts, how a key rides, what its headers and answers mean."""
