-- How long the model calls of a run took.
select * from latency_by_step where run_id = $run_id order by step, model_requested
