"""Nouns: frozen, strict, closed models that cross folders. No input or output happens here."""
