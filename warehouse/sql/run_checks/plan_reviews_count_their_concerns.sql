-- severity: critical
-- A plan's review counts the idea's concerns; others do not stand unless they were weighed among those that decide.
with counted as (
  select run_id, idea_id, count(*) as concern_count, count(decision_place) as weighed_count from concerns group by run_id, idea_id
)
select coalesce(r.run_id, c.run_id) as run_id, coalesce(r.idea_id, c.idea_id) as idea_id, r.concern_count, c.concern_count as counted
from plan_reviews as r
full join counted as c on c.idea_id = r.idea_id
where coalesce(c.concern_count, 0) - coalesce(r.concern_count, 0) not between 0 and coalesce(c.weighed_count, 0)
