"""Citations by key: settling, rendering, bibliography."""
