select idea_id, evaluation_key, epoch_us(finished_at) from ideas where run_id = $run_id order by idea_id
