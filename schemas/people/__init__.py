"""Models of the actions of people and programs: decisions, votes, roles, jobs, the ledger."""
