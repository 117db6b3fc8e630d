-- severity: critical
-- A committee's total and counts are those of its persona reviews; unscored ones are counted, never averaged.
select m.run_id, m.idea_id, m.total_score_0_to_10, r.mean_score, m.scored_review_count, r.scored_count, m.unscored_review_count, r.unscored_count
from meta_reviews as m
left join (
  select idea_id, avg(score_0_to_10) as mean_score, count(score_0_to_10) as scored_count, count(*) - count(score_0_to_10) as unscored_count
  from persona_reviews
  group by idea_id
) as r on r.idea_id = m.idea_id
where m.scored_review_count <> coalesce(r.scored_count, 0)
  or m.unscored_review_count <> coalesce(r.unscored_count, 0)
  or (m.total_score_0_to_10 is null) <> (r.mean_score is null)
  or abs(m.total_score_0_to_10 - r.mean_score) > 1e-6
