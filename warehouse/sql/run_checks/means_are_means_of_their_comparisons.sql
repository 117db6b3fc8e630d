-- severity: warning
-- A review's mean comparison score and counts are those of the comparisons along its dimension.
select r.run_id, r.idea_id, r.dimension_id, r.mean_comparison_score, c.mean_score, r.scored_comparison_count, c.scored_count
from contribution_reviews as r
left join (
  select idea_id, dimension_id, avg(score) as mean_score, count(score) as scored_count, count(*) - count(score) as unscored_count
  from comparisons
  group by idea_id, dimension_id
) as c on c.idea_id = r.idea_id and c.dimension_id = r.dimension_id
where r.scored_comparison_count <> coalesce(c.scored_count, 0)
  or r.unscored_comparison_count <> coalesce(c.unscored_count, 0)
  or abs(coalesce(r.mean_comparison_score, 0) - coalesce(c.mean_score, 0)) > 1e-6
