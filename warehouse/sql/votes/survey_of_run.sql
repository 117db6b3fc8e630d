select run_id, question_id as item_id from surveys where run_id = $run_id
