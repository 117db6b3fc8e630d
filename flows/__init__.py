"""Order of work: Prefect flows, the Dask runner, schedules and the command line."""
