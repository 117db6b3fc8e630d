-- severity: critical
-- An item has an answer, or a reason for its absence.
select run_id, task, system, item_id from benchmark_items where (answer is null) = (unscored_reason is null)
