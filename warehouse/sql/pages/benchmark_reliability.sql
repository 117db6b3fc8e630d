-- How often what was said with some probability was right: answers to yes-or-no questions in ten bins of equal width.
-- Only tasks whose every value is a probability and whose right answers are yes or no; unscored answers have no value.
with judged as (
  select task, system, value, (lower(gold) in ('yes', 'true', '1'))::integer as held
  from benchmark_items
  where run_id = $run_id and value is not null and lower(gold) in ('yes', 'no', 'true', 'false', '1', '0')
),
probable as (
  select task, system from judged group by task, system having min(value) >= 0 and max(value) <= 1 and count(distinct value) > 2
)
select
  j.task,
  j.system,
  least(floor(10 * j.value), 9)::integer as bin,
  avg(j.value) as mean_said,
  avg(j.held) as share_held,
  count(*) as item_count
from judged as j
inner join probable as p on p.task = j.task and p.system = j.system
group by j.task, j.system, bin
order by j.task, j.system, bin
