"""Published figures of each suite: paper, table, row, column and number, no sentences."""
