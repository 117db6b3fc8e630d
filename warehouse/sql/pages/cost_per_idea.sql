-- How many ideas of a run cost how much, in $bins bins of equal width. An idea with a call of unknown price is in no bin: bin NULL.
with per_idea as (
  select
    i.idea_id,
    case
      when count(*) filter (where c.cost_usd is null and not c.cache_hit and c.prompt_tokens + c.completion_tokens > 0) > 0 then null
      else coalesce(sum(c.cost_usd), 0)
    end as cost_usd
  from ideas as i
  left join llm_calls as c on c.run_id = i.run_id and c.idea_id = i.idea_id
  where i.run_id = $run_id
  group by i.idea_id
),
bounds as (
  select max(cost_usd) as highest, greatest(max(cost_usd) / $bins, 1e-9) as width from per_idea
)
select
  least(floor(p.cost_usd / b.width), $bins - 1)::bigint as bin,
  least(floor(p.cost_usd / b.width), $bins - 1) * b.width as from_usd,
  (least(floor(p.cost_usd / b.width), $bins - 1) + 1) * b.width as to_usd,
  count(*) as ideas
from per_idea as p
cross join bounds as b
group by bin, from_usd, to_usd
order by bin nulls last
