"""Questions to models in provider batches, at half the price of calls."""
