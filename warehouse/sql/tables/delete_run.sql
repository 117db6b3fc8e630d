delete from "{table}" where run_id = $run_id
