"""Nouns of what people and programs do: decisions, votes, roles, jobs, the ledger."""
