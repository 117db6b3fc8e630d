-- Costs of runs.
select * from run_costs where list_contains($run_ids, run_id)
