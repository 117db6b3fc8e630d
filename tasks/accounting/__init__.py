"""The ledger of an idea, shared rate limits, and shared budgets."""
