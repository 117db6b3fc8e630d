-- Answers of a benchmark, in order.
select * from benchmark_items where run_id = $run_id order by position
