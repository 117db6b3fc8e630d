-- Scores of some benchmarks, in the order of their suites.
select * from benchmark_scores where list_contains($run_ids, run_id) order by run_id, position
