-- How the literature sources of a run behaved.
select * from source_health where run_id = $run_id order by source, endpoint
