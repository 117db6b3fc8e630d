"""Frozen, strict, closed models shared by several folders. No input or output happens here."""
