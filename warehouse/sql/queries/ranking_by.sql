-- Ideas of a run as one of its rankings places them; groups without any scored match by score.
select
  run_id,
  ranking_group as "group",
  case
    when has_matches then match_rank
    when score is not null then rank() over (partition by ranking_group order by round(score, 9) desc nulls last)
  end as rank,
  idea_id,
  title,
  score,
  score_lower,
  score_upper,
  coverage_0_to_1,
  state,
  soundness_0_to_10,
  contribution_0_to_10,
  unscored_method_count + unscored_comparison_count + unscored_dimension_count + unscored_persona_review_count as unscored_count,
  failure_count,
  case when has_matches then 'matches' else 'scores' end as basis,
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
order by "group" nulls last, rank nulls last, strength desc nulls last, idea_id
