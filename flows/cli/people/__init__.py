"""Commands of people: requests, decisions, votes, accounts and the ledger."""
