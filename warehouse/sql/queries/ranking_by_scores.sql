-- Ideas of a run by group and score, whatever matches said; where $shrink is true, by the shrunk score. The range of an idea without a score
-- is among scores as they were measured, so there is none among shrunk ones.
select
  run_id,
  "group",
  case when score is not null then rank() over (partition by "group" order by round(case when $shrink then shrunk_score else score end, 9) desc nulls last) end as rank,
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
  case when not $shrink then best_rank end as best_rank,
  case when not $shrink then worst_rank end as worst_rank
from idea_scores
where run_id = $run_id
order by "group" nulls last, rank nulls last, best_rank nulls last, idea_id
