"""What programs may ask of a warehouse, and what they have asked."""
