"""What every exchange over HTTP needs: reading a bounded answer, and what an answer asks to wait."""
