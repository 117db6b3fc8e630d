-- severity: critical
-- The places of the deciding concerns are 1 to n, each once; none of them is folded, and a folded
-- concern is folded into one of them.
with placed as (
  select run_id, idea_id, count(decision_place) as places, count(distinct decision_place) as distinct_places, max(decision_place) as last_place
  from concerns
  group by run_id, idea_id
)
select run_id, idea_id, 'places' as concern_id
from placed
where places <> distinct_places or places <> coalesce(last_place, 0)
union all
select c.run_id, c.idea_id, c.concern_id
from concerns as c
left join concerns as f on f.run_id = c.run_id and f.idea_id = c.idea_id and f.concern_id = c.folded_into
where c.folded_into is not null and (c.decision_place is not null or f.decision_place is null)
union all
select run_id, idea_id, concern_id
from concerns
where (confirmed_severity is null) <> (defense = '')
