-- severity: critical
-- A plan's review counts the idea's concerns; concerns do not stand without a review that raised them.
with counted as (
  select run_id, idea_id, count(*) as concern_count from concerns group by run_id, idea_id
)
select coalesce(r.run_id, c.run_id) as run_id, coalesce(r.idea_id, c.idea_id) as idea_id, r.concern_count, c.concern_count as counted
from plan_reviews as r
full join counted as c on c.idea_id = r.idea_id
where coalesce(r.concern_count, 0) <> coalesce(c.concern_count, 0)
