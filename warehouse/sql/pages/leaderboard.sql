-- Ideas of a run with all that weights may act on, and how sure each of it is, for other weights.
-- <criterion>_0_to_10, overall_0_to_10: ten times the probability; <criterion>_lower, <criterion>_upper: lowest and highest repetition.
-- contribution_lower, contribution_upper: means over the dimensions of the 95 % bootstrap intervals over works, as if all dimensions moved
-- together: they rest on the same works. NULL: some dimension has none.
-- soundness_standard_error: of the mean over methods, as if these were repeated measurements of one thing, though each is a thing of its own:
-- how far the methods of an idea differ. committee_standard_error: of the mean over personas, whose judgements belong together each.
-- novelty_standard_error: of a calibrated novelty its 90 % interval over 3.29. NULL: fewer than two, none to be had.
-- <module>_sample_count: how many it rests on.
with method_spread as (
  select idea_id, stddev_samp(score_0_to_10) / sqrt(count(score_0_to_10)) as standard_error, count(score_0_to_10) as sample_count
  from soundness_reviews
  where run_id = $run_id
  group by idea_id
),
work_spread as (
  select
    idea_id,
    case when count(novelty_lower_0_to_10) = count(novelty_0_to_10) then avg(novelty_lower_0_to_10) end as lower,
    case when count(novelty_upper_0_to_10) = count(novelty_0_to_10) then avg(novelty_upper_0_to_10) end as upper
  from contribution_reviews
  where run_id = $run_id
  group by idea_id
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
),
fatal as (
  select idea_id, count(*) as confirmed_fatal_count
  from concerns
  where run_id = $run_id and confirmed_severity = 'fatal' and folded_into is null
  group by idea_id
),
criteria as (
  pivot (
    select idea_id, criterion, 10 * probability_0_to_1 as score, 10 * lowest_0_to_1 as lower, 10 * highest_0_to_1 as upper
    from assessments
    where run_id = $run_id
  )
  on criterion in ('overall', 'worth_asking', 'new', 'decisive_test', 'feasible')
  using any_value(score) as "0_to_10", any_value(lower) as lower, any_value(upper) as upper
  group by idea_id
)
select
  i.idea_id,
  i.title,
  i."group",
  i.score,
  i.score_lower,
  i.score_upper,
  i.score_basis,
  i.missing,
  i.coverage_0_to_1,
  i.state,
  i.state_reason,
  i.soundness_0_to_10,
  i.contribution_0_to_10,
  i.committee_0_to_10,
  i.novelty_0_to_10,
  a.* exclude (idea_id),
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
  w.lower as contribution_lower,
  w.upper as contribution_upper,
  c.standard_error as committee_standard_error,
  c.sample_count as committee_sample_count,
  n.standard_error as novelty_standard_error,
  coalesce(f.confirmed_fatal_count, 0) as confirmed_fatal_count
from idea_scores as i
left join method_spread as m on m.idea_id = i.idea_id
left join work_spread as w on w.idea_id = i.idea_id
left join persona_spread as c on c.idea_id = i.idea_id
left join novelty_spread as n on n.idea_id = i.idea_id
left join fatal as f on f.idea_id = i.idea_id
left join criteria as a on a.idea_id = i.idea_id
where i.run_id = $run_id
order by i.idea_id
