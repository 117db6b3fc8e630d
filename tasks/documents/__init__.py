"""Full texts of papers: found, fetched safely, parsed apart from the worker, matched to sections."""
