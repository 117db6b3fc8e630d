-- How often each right answer of a benchmark was answered how, by task and system; answer NULL: unscored.
select task, system, gold, answer, count(*) as item_count
from benchmark_items
where run_id = $run_id and gold is not null
group by task, system, gold, answer
order by task, system, gold, answer nulls last
