-- Ideas of a run in the order of one of its rankings, with the columns of `group_rankings`; groups whose matches separate no ideas are
-- ordered by score.
with ranked_ideas as (
  select * replace (ranking_id = $ranking_id as shown, true as has_matches)
  from ranked_ideas
  where run_id = $run_id
)
{group_rankings}
order by "group" nulls last, rank nulls last, strength desc nulls last, best_rank nulls last, idea_id
