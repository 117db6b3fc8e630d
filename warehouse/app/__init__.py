"""State of the services: accounts, tokens, jobs, votes, decisions."""
