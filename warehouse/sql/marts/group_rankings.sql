-- Ideas ranked within their group and run, best first; equal scores share a rank, an idea without a score has none.
-- Scores are compared to nine decimals, so that the order of summation never breaks a tie. NULL group: ideas given without one.
select
  run_id,
  "group",
  case
    when score is not null then rank() over (partition by run_id, "group" order by round(score, 9) desc nulls last)
  end as rank,
  idea_id,
  title,
  score,
  soundness_0_to_10,
  contribution_0_to_10,
  unscored_method_count + unscored_comparison_count + unscored_dimension_count as unscored_count,
  failure_count
from idea_scores
