select count(*) from "{table}" where run_id = $run_id
