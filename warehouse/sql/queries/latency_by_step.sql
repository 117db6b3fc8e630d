-- Duration of a run's model calls.
select * from latency_by_step where run_id = $run_id order by step, model_requested
