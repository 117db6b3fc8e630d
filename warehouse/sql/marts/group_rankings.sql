-- Ideas ranked within their group and run, best first; ideas that cannot be told apart share a rank, and what was not judged has none.
-- basis: matches where the group was ranked by pairwise matches that tell its ideas apart, else scores; strength, wins, losses and ties are of
-- the matches either way. best_rank, worst_rank: what the 95 % intervals of the matches allow, or the bounds of an idea without a score.
-- missing: why it has none. NULL group: ideas given without one.
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
