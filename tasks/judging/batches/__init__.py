"""Questions to models that travel in batches, at half the price of calls: written down,
submitted, collected.
"""
