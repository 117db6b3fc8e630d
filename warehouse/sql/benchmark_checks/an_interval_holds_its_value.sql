-- severity: critical
-- The ends of an interval are both there or both missing, and the lower one is not above the upper one.
select run_id, metric, slice, system from benchmark_scores
where (lower is null) <> (upper is null) or lower > upper
