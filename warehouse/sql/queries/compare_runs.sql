-- The ideas of two runs by identifier, with their ranks and the difference. NULL: not in that run,
-- or without a score.
with before as (select * from group_rankings where run_id = $before),
after as (select * from group_rankings where run_id = $after)
select
  coalesce(a.idea_id, b.idea_id) as idea_id,
  coalesce(a.title, b.title) as title,
  coalesce(a."group", b."group") as "group",
  b.rank as rank_before,
  a.rank as rank_after,
  b.score as score_before,
  a.score as score_after,
  a.score - b.score as score_change,
  case
    when b.idea_id is null then 'new'
    when a.idea_id is null then 'gone'
    when b."group" is distinct from a."group" then 'regrouped'
    when a.rank < b.rank then 'up'
    when a.rank > b.rank then 'down'
    when a.score is null and b.score is not null then 'unscored now'
    when a.score is not null and b.score is null then 'scored now'
    else 'same'
  end as change
from before as b
full outer join after as a on a.idea_id = b.idea_id
order by "group" nulls last, rank_after nulls last, rank_before nulls last, idea_id
