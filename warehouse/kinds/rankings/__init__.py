"""Rankings of a run: landed, validated, published and read beside the run they rank."""
