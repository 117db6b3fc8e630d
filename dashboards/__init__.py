"""Reports and the web application. Reads through `warehouse.queries` only."""
