-- Score of every idea of every run, 0 to 10; NULL when nothing was scored. An unscored judgement is counted, never averaged.
-- soundness_0_to_10: mean score of the scored methods.
-- contribution_0_to_10: mean of the dimensions' contribution_reviews.novelty_0_to_10, which follows from the closest works; in runs whose
-- comparisons do not tell overlap, as before, 5 * (1 + mean_comparison_score).
-- mean_comparison_score: mean over all scored (paper, dimension) comparisons, each -1, 0 or +1.
-- committee_0_to_10: mean over the dimensions that scored any idea of the run, each the mean of its scored persona reviews. Where one of
-- them did not score this idea, its mean over the run stands in, so that an idea never leads by the dimensions it lacks.
-- novelty_0_to_10: 2.5 * (the five-point judgement - 1), calibrated where a calibrator was applied.
-- <module>_confidence_0_to_3: how sure the module's score is. The median, the lower of two, of confidence_0_to_3 over all that the module
-- had to judge; what is unscored counts as 0. NULL without a score, and in runs of before there was a confidence.
-- confidence_0_to_3: the least of those of the modules that the score is made of.
-- score: weighted by the run's profile over the modules that scored any idea of the run, so that scores compare like with like. Where one of
-- them did not score this idea, its mean over the run stands in. score_lower, score_upper: the score if it were 0, or 10, instead.
-- shrunk_score: the score drawn toward the mean of its group, the more the thinner what it rests on: mean + share * (score - mean), where
-- share = evidence_weight / (evidence_weight + 2). A group of one keeps its score. The only score that is shrunk; nothing is ranked by it
-- but what `assay rank --scores --shrink` prints.
-- evidence_weight: judgements that the score rests on, each by how sure it is: (scored methods + scored dimensions + personas with a scored
-- review + 1 for a judgement of novelty, of the modules with a weight) * (1 + confidence_0_to_3) / 4, without a known confidence times 1.
-- coverage_0_to_1: share of the weight of the modules asked for that scored this idea. NULL score: no module did.
-- state: scored, partly_scored or unscored; state_reason: the gravest reason why judgements are missing. NULL: published by an earlier version.
-- <module>_unscored_share: of what the module had to judge.
with method_scores as (
  select
    m.run_id,
    m.idea_id,
    avg(r.score_0_to_10) as soundness_0_to_10,
    count(*) as method_count,
    count(r.score_0_to_10) as scored_method_count,
    case
      when count(r.confidence_0_to_3) = count(r.score_0_to_10) then quantile_disc(coalesce(r.confidence_0_to_3, 0), 0.5)
    end as soundness_confidence
  from methods as m
  left join soundness_reviews as r
    on r.run_id = m.run_id and r.idea_id = m.idea_id and r.method_id = m.method_id
  group by m.run_id, m.idea_id
),
comparison_scores as (
  select
    run_id,
    idea_id,
    avg(score) as mean_comparison_score,
    count(*) as comparison_count,
    count(score) as scored_comparison_count
  from comparisons
  group by run_id, idea_id
),
dimension_reviews as (
  select
    d.run_id,
    d.idea_id,
    avg(r.novelty_0_to_10) as novelty_by_closest_works,
    case when count(r.confidence_0_to_3) > 0 then quantile_disc(coalesce(r.confidence_0_to_3, 0), 0.5) end as contribution_confidence,
    count(*) as dimension_count,
    count(*) filter (where r.dimension_id is null or r.unscored_reason is not null) as unscored_dimension_count
  from dimensions as d
  left join contribution_reviews as r
    on r.run_id = d.run_id and r.idea_id = d.idea_id and r.dimension_id = d.dimension_id
  group by d.run_id, d.idea_id
),
judged_by_dimension as (
  select run_id, idea_id, dimension, avg(score_0_to_10) as score_0_to_10
  from persona_reviews
  group by run_id, idea_id, dimension
  having count(score_0_to_10) > 0
),
-- Means over a run or group are rounded, as their last bit depends on the order of rows.
dimension_means as (
  select run_id, dimension, round(avg(score_0_to_10), 9) as run_mean from judged_by_dimension group by run_id, dimension
),
committee_scores as (
  select i.run_id, i.idea_id, avg(coalesce(j.score_0_to_10, d.run_mean)) as committee_0_to_10
  from (select distinct run_id, idea_id from judged_by_dimension) as i
  inner join dimension_means as d on d.run_id = i.run_id
  left join judged_by_dimension as j on j.run_id = i.run_id and j.idea_id = i.idea_id and j.dimension = d.dimension
  group by i.run_id, i.idea_id
),
persona_scores as (
  select
    run_id,
    idea_id,
    count(*) as persona_review_count,
    count(score_0_to_10) as scored_persona_review_count,
    count(distinct persona_id) filter (where score_0_to_10 is not null) as scored_persona_count,
    case when count(confidence_0_to_3) = count(score_0_to_10) then quantile_disc(coalesce(confidence_0_to_3, 0), 0.5) end as committee_confidence
  from persona_reviews
  group by run_id, idea_id
),
novelty_scores as (
  select run_id, idea_id, coalesce(calibrated_score_1_to_5, score_1_to_5) as novelty_1_to_5, confidence_0_to_3 as novelty_confidence
  from novelty
),
failure_counts as (
  select run_id, idea_id, count(*) as failure_count from failures where stage <> 'left_out' group by run_id, idea_id
),
module_scores as (
  select
    i.run_id,
    i.idea_id,
    i."group",
    i.title,
    m.soundness_0_to_10,
    case
      when c.mean_comparison_score is not null then coalesce(d.novelty_by_closest_works, 5 * (1 + c.mean_comparison_score))
    end as contribution_0_to_10,
    c.mean_comparison_score,
    o.committee_0_to_10,
    n.novelty_1_to_5,
    2.5 * (n.novelty_1_to_5 - 1) as novelty_0_to_10,
    case when m.soundness_0_to_10 is not null then m.soundness_confidence end as soundness_confidence_0_to_3,
    case when c.mean_comparison_score is not null then d.contribution_confidence end as contribution_confidence_0_to_3,
    case when o.committee_0_to_10 is not null then p.committee_confidence end as committee_confidence_0_to_3,
    case when n.novelty_1_to_5 is not null then n.novelty_confidence end as novelty_confidence_0_to_3,
    coalesce(m.method_count, 0) as method_count,
    coalesce(m.scored_method_count, 0) as scored_method_count,
    coalesce(m.method_count - m.scored_method_count, 0) as unscored_method_count,
    coalesce(d.dimension_count, 0) as dimension_count,
    coalesce(d.unscored_dimension_count, 0) as unscored_dimension_count,
    coalesce(c.scored_comparison_count, 0) as scored_comparison_count,
    coalesce(c.comparison_count - c.scored_comparison_count, 0) as unscored_comparison_count,
    coalesce(p.persona_review_count, 0) as persona_review_count,
    coalesce(p.persona_review_count - p.scored_persona_review_count, 0) as unscored_persona_review_count,
    coalesce(p.scored_persona_count, 0) as scored_persona_count,
    coalesce(f.failure_count, 0) as failure_count,
    i.soundness_requested,
    i.contribution_requested,
    coalesce(i.committee_requested, false) as committee_requested,
    coalesce(i.novelty_requested, false) as novelty_requested,
    i.incomplete_reason,
    i.duplicate_of,
    i.state,
    i.state_reason,
    r.soundness_weight as soundness_profile_weight,
    r.contribution_weight as contribution_profile_weight,
    coalesce(r.committee_weight, 0) as committee_profile_weight,
    coalesce(r.novelty_weight, 0) as novelty_profile_weight
  from ideas as i
  inner join runs as r on r.run_id = i.run_id
  left join method_scores as m on m.run_id = i.run_id and m.idea_id = i.idea_id
  left join comparison_scores as c on c.run_id = i.run_id and c.idea_id = i.idea_id
  left join dimension_reviews as d on d.run_id = i.run_id and d.idea_id = i.idea_id
  left join persona_scores as p on p.run_id = i.run_id and p.idea_id = i.idea_id
  left join committee_scores as o on o.run_id = i.run_id and o.idea_id = i.idea_id
  left join novelty_scores as n on n.run_id = i.run_id and n.idea_id = i.idea_id
  left join failure_counts as f on f.run_id = i.run_id and f.idea_id = i.idea_id
),
run_means as (
  select
    *,
    round(avg(soundness_0_to_10) over (partition by run_id), 9) as soundness_mean,
    round(avg(contribution_0_to_10) over (partition by run_id), 9) as contribution_mean,
    round(avg(committee_0_to_10) over (partition by run_id), 9) as committee_mean,
    round(avg(novelty_0_to_10) over (partition by run_id), 9) as novelty_mean,
    case when soundness_0_to_10 is null then 0 else soundness_profile_weight end as soundness_weight,
    case when contribution_0_to_10 is null then 0 else contribution_profile_weight end as contribution_weight,
    case when committee_0_to_10 is null then 0 else committee_profile_weight end as committee_weight,
    case when novelty_0_to_10 is null then 0 else novelty_profile_weight end as novelty_weight
  from module_scores
),
weighed as (
  select
    *,
    coalesce(soundness_0_to_10, 0) * soundness_weight
    + coalesce(contribution_0_to_10, 0) * contribution_weight
    + coalesce(committee_0_to_10, 0) * committee_weight
    + coalesce(novelty_0_to_10, 0) * novelty_weight as known_sum,
    soundness_weight + contribution_weight + committee_weight + novelty_weight as known_weight,
    case when soundness_0_to_10 is null and soundness_mean is not null then soundness_profile_weight else 0 end as soundness_stand_in,
    case when contribution_0_to_10 is null and contribution_mean is not null then contribution_profile_weight else 0 end as contribution_stand_in,
    case when committee_0_to_10 is null and committee_mean is not null then committee_profile_weight else 0 end as committee_stand_in,
    case when novelty_0_to_10 is null and novelty_mean is not null then novelty_profile_weight else 0 end as novelty_stand_in
  from run_means
),
compared as (
  select
    *,
    coalesce(soundness_mean, 0) * soundness_stand_in
    + coalesce(contribution_mean, 0) * contribution_stand_in
    + coalesce(committee_mean, 0) * committee_stand_in
    + coalesce(novelty_mean, 0) * novelty_stand_in as stand_in_sum,
    soundness_stand_in + contribution_stand_in + committee_stand_in + novelty_stand_in as stand_in_weight,
    soundness_profile_weight * soundness_requested::int
    + contribution_profile_weight * contribution_requested::int
    + committee_profile_weight * committee_requested::int
    + novelty_profile_weight * novelty_requested::int as asked_weight,
    case
      when (soundness_weight > 0 and soundness_confidence_0_to_3 is null)
        or (contribution_weight > 0 and contribution_confidence_0_to_3 is null)
        or (committee_weight > 0 and committee_confidence_0_to_3 is null)
        or (novelty_weight > 0 and novelty_confidence_0_to_3 is null)
      then null
      else least(
        case when soundness_weight > 0 then soundness_confidence_0_to_3 end,
        case when contribution_weight > 0 then contribution_confidence_0_to_3 end,
        case when committee_weight > 0 then committee_confidence_0_to_3 end,
        case when novelty_weight > 0 then novelty_confidence_0_to_3 end
      )
    end as confidence_0_to_3,
    case when soundness_weight > 0 then scored_method_count else 0 end
    + case when contribution_weight > 0 then dimension_count - unscored_dimension_count else 0 end
    + case when committee_weight > 0 then scored_persona_count else 0 end
    + case when novelty_weight > 0 then 1 else 0 end as judgement_count
  from weighed
),
scored as (
  select
    *,
    case when known_weight > 0 then (known_sum + stand_in_sum) / (known_weight + stand_in_weight) end as score,
    judgement_count * coalesce((1 + confidence_0_to_3) / 4, 1.0) as evidence_weight
  from compared
)
select
  run_id,
  idea_id,
  "group",
  title,
  score,
  case when known_weight > 0 then known_sum / (known_weight + stand_in_weight) end as score_lower,
  case when known_weight > 0 then (known_sum + 10 * stand_in_weight) / (known_weight + stand_in_weight) end as score_upper,
  case when asked_weight > 0 then known_weight / asked_weight else 0.0 end as coverage_0_to_1,
  state,
  state_reason,
  confidence_0_to_3,
  soundness_0_to_10,
  contribution_0_to_10,
  committee_0_to_10,
  novelty_0_to_10,
  novelty_1_to_5,
  soundness_confidence_0_to_3,
  contribution_confidence_0_to_3,
  committee_confidence_0_to_3,
  novelty_confidence_0_to_3,
  mean_comparison_score,
  method_count,
  scored_method_count,
  unscored_method_count,
  dimension_count,
  unscored_dimension_count,
  scored_comparison_count,
  unscored_comparison_count,
  persona_review_count,
  unscored_persona_review_count,
  unscored_method_count / nullif(method_count, 0) as soundness_unscored_share,
  unscored_comparison_count / nullif(scored_comparison_count + unscored_comparison_count, 0) as contribution_unscored_share,
  case
    when persona_review_count > 0 then unscored_persona_review_count / persona_review_count
    when committee_requested then 1.0
  end as committee_unscored_share,
  case when novelty_requested then (novelty_1_to_5 is null)::double end as novelty_unscored_share,
  failure_count,
  soundness_requested,
  contribution_requested,
  committee_requested,
  novelty_requested,
  incomplete_reason,
  duplicate_of,
  case
    when score is not null then
      group_mean + evidence_weight / (evidence_weight + 2) * (score - group_mean)
  end as shrunk_score,
  case when score is not null then evidence_weight end as evidence_weight
from (select *, round(avg(score) over (partition by run_id, "group"), 9) as group_mean from scored)
