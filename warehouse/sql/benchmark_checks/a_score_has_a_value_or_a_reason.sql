-- severity: critical
-- A score has either a value or a reason for its absence.
select run_id, metric, slice, system from benchmark_scores where (value is null) = (undefined_reason is null)
