-- How often each right answer of a benchmark was answered how, by task and system; answer NULL: unscored.
-- Only where answers are classes, which come back: where they name papers or ideas, each is a class of its own and a matrix tells nothing.
select task, system, gold, answer, count(*) as item_count
from benchmark_items
where run_id = $run_id and gold is not null
group by task, system, gold, answer
qualify
  count(distinct gold) over (partition by task, system) <= $most_classes
  and sum(count(*)) over (partition by task, system) >= 2 * count(distinct gold) over (partition by task, system)
order by task, system, gold, answer nulls last
