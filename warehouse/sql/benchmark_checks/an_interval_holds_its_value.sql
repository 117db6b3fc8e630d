-- severity: critical
-- An interval has both ends or neither, and the lower end is not above the upper.
select run_id, metric, slice, system from benchmark_scores
where (lower is null) <> (upper is null) or lower > upper
