delete from "{table}" where run_id = $run_id and ranking_id = $ranking_id
