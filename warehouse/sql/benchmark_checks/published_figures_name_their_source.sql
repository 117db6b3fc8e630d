-- severity: critical
-- A published figure says which paper, table and row it stands in; a measured one cites none.
select run_id, metric, slice, system from benchmark_scores where (origin = 'published') = (published_source = '')
