"""The extractive engine's answers: classic text processing over the real evidence, one file per step.

All of it is deterministic and cheap: no embeddings, no chance, no corpus statistics.
"""
