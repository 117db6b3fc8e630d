"""What the extractive engine answers about manuscripts: checks of the text that need no model."""
