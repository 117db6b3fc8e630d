-- severity: warning
-- The percentages of a novelty judgement sum to 100.
select run_id, idea_id, probabilities_percent, total
from (
  select
    run_id, idea_id, probabilities_percent,
    list_sum(list_transform(map_values(probabilities_percent::json::map(varchar, double)), lambda percent: percent)) as total
  from novelty
)
where abs(coalesce(total, 100) - 100) > 1e-6
