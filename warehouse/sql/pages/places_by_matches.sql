-- Ideas of a run as one of its rankings by matches places them, in the groups they met in; without any scored match none has a rank.
-- rests_on: scores where the matches of a group tell no ideas apart.
with met_in as (
  select distinct idea_id, "group" from ratings where run_id = $run_id and ranking_id = $ranking_id
)
select
  r.idea_id,
  coalesce(m."group", r.ranking_group) as "group",
  case when r.has_matches then r.rank end as rank,
  r.basis as rests_on,
  r.best_rank,
  r.worst_rank,
  r.strength,
  r.strength_lower,
  r.strength_upper,
  r.wins,
  r.losses,
  r.ties,
  r.unscored_match_count,
  r.unranked_reason
from ranked_ideas as r
left join met_in as m on m.idea_id = r.idea_id
where r.run_id = $run_id and r.ranking_id = $ranking_id
order by r.idea_id
