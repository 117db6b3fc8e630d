-- severity: critical
-- A score has a value, or says why there is none; never both and never neither.
select run_id, metric, slice, system from benchmark_scores where (value is null) = (undefined_reason is null)
