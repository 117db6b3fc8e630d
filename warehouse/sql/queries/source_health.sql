-- Behavior of the literature sources of a run.
select * from source_health where run_id = $run_id order by source, endpoint
