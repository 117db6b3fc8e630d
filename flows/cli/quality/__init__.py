"""Commands that judge manuscripts and models."""
