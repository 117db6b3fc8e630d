"""Commands that operate servers, jobs and the warehouse."""
