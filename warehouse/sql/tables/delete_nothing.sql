delete from "{table}" where "run_id" is null
