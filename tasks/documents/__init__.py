"""Full texts of papers: found, fetched safely, parsed in a child process, matched to sections."""
