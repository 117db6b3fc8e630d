select * from "{table}" where run_id = $run_id and list_contains($idea_ids, idea_id)
