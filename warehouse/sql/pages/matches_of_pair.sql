-- Every match between two ideas of a ranking, `overall` first, then by dimension.
select dimension, first_idea_id, winner, first_better_0_to_1, winner_idea_id, rationale, judge, unscored_reason, unscored_detail, created_at
from matches
where run_id = $run_id
  and ranking_id = $ranking_id
  and list_contains([$one, $other], first_idea_id)
  and list_contains([$one, $other], second_idea_id)
order by dimension <> 'overall', dimension, position
