-- Ideas of a run in the order of one of its rankings; groups whose matches separate no ideas are
-- ordered by score.
select
  run_id,
  ranking_group as "group",
  rank,
  idea_id,
  title,
  score,
  score_lower,
  score_upper,
  score_basis,
  missing,
  coverage_0_to_1,
  state,
  soundness_0_to_10,
  contribution_0_to_10,
  unscored_method_count + unscored_comparison_count + unscored_dimension_count + unscored_persona_review_count as unscored_count,
  failure_count,
  basis,
  ranking_id,
  ranking_engine,
  best_rank,
  worst_rank,
  strength,
  strength_lower,
  strength_upper,
  wins,
  losses,
  ties,
  unscored_match_count,
  unranked_reason,
  rank_across_groups,
  strength_across_groups,
  strength_across_groups_lower,
  strength_across_groups_upper
from ranked_ideas
where run_id = $run_id and ranking_id = $ranking_id
order by "group" nulls last, rank nulls last, strength desc nulls last, best_rank nulls last, idea_id
