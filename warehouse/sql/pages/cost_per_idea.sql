-- How many ideas of a run cost how much, in $bins bins of equal width, the empty ones too. An idea with a call of unknown price is in no bin: bin NULL.
with per_idea as (
  select
    i.idea_id,
    case
      when count(*) filter (where c.cost_usd is null and not c.cache_hit) > 0 then null
      else coalesce(sum(c.cost_usd), 0)
    end as cost_usd
  from ideas as i
  left join llm_calls as c on c.run_id = i.run_id and c.idea_id = i.idea_id
  where i.run_id = $run_id
  group by i.idea_id
),
bounds as (
  select coalesce(greatest(max(cost_usd) / $bins, 1e-9), 1e-9) as width from per_idea
),
placed as (
  select case when p.cost_usd is not null then least(floor(p.cost_usd / b.width), $bins - 1)::bigint end as bin, b.width
  from per_idea as p
  cross join bounds as b
)
select r.bin, r.bin * b.width as from_usd, (r.bin + 1) * b.width as to_usd, count(p.width) as ideas
from range($bins) as r(bin)
cross join bounds as b
left join placed as p on p.bin = r.bin
where exists (select 1 from placed where bin is not null)
group by r.bin, b.width
union all
select null, null, null, count(*) from placed where bin is null having count(*) > 0
order by bin nulls last
