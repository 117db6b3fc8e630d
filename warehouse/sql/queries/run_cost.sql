-- What a run cost.
select * from run_costs where run_id = $run_id
