select * from "{table}" where run_id = $run_id order by position
