"""What a reader sees. Reads only `warehouse.queries`."""
