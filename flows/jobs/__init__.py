"""The job runner and the processes of jobs."""
