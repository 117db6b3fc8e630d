"""Object storage for warehouses and lakes."""
