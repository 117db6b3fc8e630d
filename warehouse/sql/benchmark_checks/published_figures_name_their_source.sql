-- severity: critical
-- A published figure cites paper, table and row; a measured one cites none.
select run_id, metric, slice, system from benchmark_scores where (origin = 'published') = (published_source = '')
