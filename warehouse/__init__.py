"""Files and tables: landing, lake, validation, SQL. No model calls, no HTTP."""
