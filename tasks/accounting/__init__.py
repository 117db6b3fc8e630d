"""What was spent: the ledger of an idea, shared rate limits, shared budgets."""
