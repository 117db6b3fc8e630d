-- severity: critical
-- An item has an answer, or a reason why it has none.
select run_id, task, system, item_id from benchmark_items where (answer is null) = (unscored_reason is null)
