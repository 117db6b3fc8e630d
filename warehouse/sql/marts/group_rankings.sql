-- Ideas ranked within their group and run, best first; ideas that cannot be told apart share a rank, and what was not judged has none.
-- basis: matches where the group was ranked by pairwise matches, else scores. best_rank, worst_rank: what 95 % intervals allow.
-- Scores are compared to nine decimals, so that the order of summation never breaks a tie. NULL group: ideas given without one.
select
  run_id,
  ranking_group as "group",
  case
    when has_matches then match_rank
    when score is not null then rank() over (partition by run_id, ranking_group order by round(score, 9) desc nulls last)
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
  case when has_matches then ranking_id end as ranking_id,
  case when has_matches then ranking_engine end as ranking_engine,
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
where shown
