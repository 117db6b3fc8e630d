"""Files and tables: landing, lake, quality checks, SQL. Knows no language model and no HTTP."""
