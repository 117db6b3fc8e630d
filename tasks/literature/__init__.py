"""Papers, passages and references, through the gateway."""
