-- Ideas of a run with what their modules scored and how sure these means are, for weighing anew.
-- <module>_standard_error: of the mean over methods (soundness), papers compared (contribution) and personas (committee), judgements
-- of one paper or persona belonging together; of a calibrated novelty its 90 % interval over 3.29. NULL: fewer than two, none to be had.
-- <module>_sample_count: how many it rests on.
with method_spread as (
  select idea_id, stddev_samp(score_0_to_10) / sqrt(count(score_0_to_10)) as standard_error, count(score_0_to_10) as sample_count
  from soundness_reviews
  where run_id = $run_id
  group by idea_id
),
paper_means as (
  select idea_id, paper_id, avg(score) as mean_score from comparisons where run_id = $run_id and score is not null group by idea_id, paper_id
),
paper_spread as (
  select idea_id, 5 * stddev_samp(mean_score) / sqrt(count(*)) as standard_error, count(*) as sample_count from paper_means group by idea_id
),
persona_means as (
  select idea_id, persona_id, avg(score_0_to_10) as mean_score
  from persona_reviews
  where run_id = $run_id and score_0_to_10 is not null
  group by idea_id, persona_id
),
persona_spread as (
  select idea_id, stddev_samp(mean_score) / sqrt(count(*)) as standard_error, count(*) as sample_count from persona_means group by idea_id
),
novelty_spread as (
  select idea_id, 2.5 * (calibrated_upper_1_to_5 - calibrated_lower_1_to_5) / 3.29 as standard_error from novelty where run_id = $run_id
)
select
  i.idea_id,
  i.title,
  i."group",
  i.score,
  i.score_lower,
  i.score_upper,
  i.coverage_0_to_1,
  i.state,
  i.state_reason,
  i.soundness_0_to_10,
  i.contribution_0_to_10,
  i.committee_0_to_10,
  i.novelty_0_to_10,
  i.unscored_method_count,
  i.unscored_comparison_count,
  i.unscored_dimension_count,
  i.unscored_persona_review_count,
  i.unscored_method_count + i.unscored_comparison_count + i.unscored_dimension_count + i.unscored_persona_review_count as unscored_count,
  i.failure_count,
  i.incomplete_reason,
  i.duplicate_of,
  m.standard_error as soundness_standard_error,
  m.sample_count as soundness_sample_count,
  p.standard_error as contribution_standard_error,
  p.sample_count as contribution_sample_count,
  c.standard_error as committee_standard_error,
  c.sample_count as committee_sample_count,
  n.standard_error as novelty_standard_error
from idea_scores as i
left join method_spread as m on m.idea_id = i.idea_id
left join paper_spread as p on p.idea_id = i.idea_id
left join persona_spread as c on c.idea_id = i.idea_id
left join novelty_spread as n on n.idea_id = i.idea_id
where i.run_id = $run_id
order by i.idea_id
