-- Score of every idea of every run, 0 to 10; NULL where anything that counts is unscored: nothing stands in its place.
-- score_basis: assessment for an idea whose assessment was asked for, else modules. What counts is then, of the weights of the run:
-- assessment: the criteria worth_asking, new, decisive_test and feasible by their weights; overall alone where none of them has a weight.
-- modules: the modules with a weight that scored any idea of the run, so that scores compare like with like. A module that scored none,
-- for whatever reason, does not count: in a run of one idea whose contribution failed, soundness alone makes the score.
-- score: the weighted mean of what counts, of a criterion ten times its probability. score_lower, score_upper: the score with 0, or 10, in
-- place of what is unscored; the score itself where nothing is. missing: names of what counts and is unscored; NULL: nothing is.
-- best_rank, worst_rank: of an idea without a score, the places that its bounds allow within its run and group, among all ideas with bounds.
-- <criterion>_0_to_1: median probability of `assessments`; overall_lowest_0_to_1, overall_highest_0_to_1: over its repetitions.
-- soundness_0_to_10: mean score of the scored methods.
-- contribution_0_to_10: mean of the scored dimensions' contribution_reviews.novelty_0_to_10, which is decided by the next work after the
-- closest twentieth; NULL where no dimension has one.
-- mean_comparison_score: mean over all scored (paper, dimension) comparisons, each -1, 0 or +1.
-- committee_0_to_10: mean over the dimensions, each the mean of its scored persona reviews; NULL, as if the committee had not scored the
-- idea, where a dimension that scored any idea of the run did not score this one.
-- novelty_0_to_10: 2.5 * (the five-point judgement - 1), calibrated where a calibrator was applied.
-- <module>_confidence_0_to_3: how sure the module's score is. The median, the lower of two, of confidence_0_to_3 over all that the module
-- had to judge; what is unscored counts as 0. NULL without a score, and of the committee where a persona with a score did not say.
-- confidence_0_to_3: that of overall where there is an assessment; else the least of those of the modules that count and scored the idea.
-- shrunk_score: the score drawn toward the mean of its group, the more the thinner what it rests on: mean + share * (score - mean), where
-- share = evidence_weight / (evidence_weight + 2) and the mean is over the ideas with a score. A group of one keeps its score. The only
-- score that is shrunk; nothing is ranked by it but what `assay rank --scores --shrink` prints.
-- evidence_weight: judgements that the score rests on, each by how sure it is: count * (1 + confidence_0_to_3) / 4, without a known
-- confidence the count. Counted are the repetitions of an assessment, or of the modules that count, scored methods + scored dimensions +
-- personas with a scored review + 1 for a judgement of novelty.
-- coverage_0_to_1: share of the weight asked for that scored this idea.
-- state: scored, partly_scored or unscored; state_reason: the gravest reason why judgements are missing.
-- <module>_unscored_share: of what the module had to judge.
with method_scores as (
  select
    m.run_id,
    m.idea_id,
    avg(r.score_0_to_10) as soundness_0_to_10,
    count(*) as method_count,
    count(r.score_0_to_10) as scored_method_count,
    quantile_disc(coalesce(r.confidence_0_to_3, 0), 0.5) as soundness_confidence
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
    avg(r.novelty_0_to_10) as contribution_0_to_10,
    quantile_disc(coalesce(r.confidence_0_to_3, 0), 0.5) as contribution_confidence,
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
committee_scores as (
  select j.run_id, j.idea_id, avg(j.score_0_to_10) as committee_0_to_10
  from judged_by_dimension as j
  inner join (select run_id, count(distinct dimension) as dimension_count from judged_by_dimension group by run_id) as r on r.run_id = j.run_id
  group by j.run_id, j.idea_id
  having count(*) = any_value(r.dimension_count)
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
assessment_scores as (
  select
    run_id,
    idea_id,
    any_value(probability_0_to_1) filter (where criterion = 'overall') as overall_0_to_1,
    any_value(lowest_0_to_1) filter (where criterion = 'overall') as overall_lowest_0_to_1,
    any_value(highest_0_to_1) filter (where criterion = 'overall') as overall_highest_0_to_1,
    any_value(confidence_0_to_3) filter (where criterion = 'overall') as overall_confidence,
    any_value(probability_0_to_1) filter (where criterion = 'worth_asking') as worth_asking_0_to_1,
    any_value(probability_0_to_1) filter (where criterion = 'new') as new_0_to_1,
    any_value(probability_0_to_1) filter (where criterion = 'decisive_test') as decisive_test_0_to_1,
    any_value(probability_0_to_1) filter (where criterion = 'feasible') as feasible_0_to_1,
    max(repetition_count) as repetition_count
  from assessments
  group by run_id, idea_id
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
    d.contribution_0_to_10,
    c.mean_comparison_score,
    o.committee_0_to_10,
    n.novelty_1_to_5,
    2.5 * (n.novelty_1_to_5 - 1) as novelty_0_to_10,
    case when m.soundness_0_to_10 is not null then m.soundness_confidence end as soundness_confidence_0_to_3,
    case when d.contribution_0_to_10 is not null then d.contribution_confidence end as contribution_confidence_0_to_3,
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
    i.committee_requested,
    i.novelty_requested,
    i.assessment_requested,
    a.overall_0_to_1,
    a.overall_lowest_0_to_1,
    a.overall_highest_0_to_1,
    a.overall_confidence,
    a.worth_asking_0_to_1,
    a.new_0_to_1,
    a.decisive_test_0_to_1,
    a.feasible_0_to_1,
    a.repetition_count,
    i.incomplete_reason,
    i.duplicate_of,
    i.state,
    i.state_reason,
    r.soundness_weight as soundness_profile_weight,
    r.contribution_weight as contribution_profile_weight,
    r.committee_weight as committee_profile_weight,
    r.novelty_weight as novelty_profile_weight,
    r.worth_asking_weight,
    r.new_weight,
    r.decisive_test_weight,
    r.feasible_weight
  from ideas as i
  inner join runs as r on r.run_id = i.run_id
  left join method_scores as m on m.run_id = i.run_id and m.idea_id = i.idea_id
  left join comparison_scores as c on c.run_id = i.run_id and c.idea_id = i.idea_id
  left join dimension_reviews as d on d.run_id = i.run_id and d.idea_id = i.idea_id
  left join persona_scores as p on p.run_id = i.run_id and p.idea_id = i.idea_id
  left join committee_scores as o on o.run_id = i.run_id and o.idea_id = i.idea_id
  left join novelty_scores as n on n.run_id = i.run_id and n.idea_id = i.idea_id
  left join assessment_scores as a on a.run_id = i.run_id and a.idea_id = i.idea_id
  left join failure_counts as f on f.run_id = i.run_id and f.idea_id = i.idea_id
),
-- A module that scored no idea of the run does not count.
weights as (
  select
    *,
    soundness_profile_weight * (count(soundness_0_to_10) over of_run > 0)::int as soundness_weight,
    contribution_profile_weight * (count(contribution_0_to_10) over of_run > 0)::int as contribution_weight,
    committee_profile_weight * (count(committee_0_to_10) over of_run > 0)::int as committee_weight,
    novelty_profile_weight * (count(novelty_0_to_10) over of_run > 0)::int as novelty_weight,
    case when worth_asking_weight + new_weight + decisive_test_weight + feasible_weight > 0 then 0 else 1 end as overall_weight
  from module_scores
  window of_run as (partition by run_id)
),
-- parts: what may enter the score; weight 0: it does not count; judgements: how many it rests on.
with_parts as (
  select
    *,
    case
      when assessment_requested then [
        {'name': 'worth_asking', 'score': 10 * worth_asking_0_to_1, 'weight': worth_asking_weight},
        {'name': 'new', 'score': 10 * new_0_to_1, 'weight': new_weight},
        {'name': 'decisive_test', 'score': 10 * decisive_test_0_to_1, 'weight': decisive_test_weight},
        {'name': 'feasible', 'score': 10 * feasible_0_to_1, 'weight': feasible_weight},
        {'name': 'overall', 'score': 10 * overall_0_to_1, 'weight': overall_weight}
      ]
      else [
        {'name': 'soundness', 'score': soundness_0_to_10, 'weight': soundness_weight},
        {'name': 'contribution', 'score': contribution_0_to_10, 'weight': contribution_weight},
        {'name': 'committee', 'score': committee_0_to_10, 'weight': committee_weight},
        {'name': 'novelty', 'score': novelty_0_to_10, 'weight': novelty_weight}
      ]
    end as parts,
    [part for part in parts if part.weight > 0] as counting,
    [part for part in counting if part.score is not null] as known
  from weights
),
weighed as (
  select
    *,
    list_sum([part.weight for part in counting]) as whole_weight,
    coalesce(list_sum([part.weight for part in known]), 0) as known_weight,
    coalesce(list_sum([part.score * part.weight for part in known]), 0) as known_sum,
    nullif(array_to_string([part.name for part in counting if part.score is null], ', '), '') as missing,
    soundness_0_to_10 is not null and soundness_weight > 0 as by_soundness,
    contribution_0_to_10 is not null and contribution_weight > 0 as by_contribution,
    committee_0_to_10 is not null and committee_weight > 0 as by_committee,
    novelty_0_to_10 is not null and novelty_weight > 0 as by_novelty
  from with_parts
),
scored as (
  select
    *,
    case when missing is null then known_sum / whole_weight end as score,
    known_sum / whole_weight as score_lower,
    (known_sum + 10 * (whole_weight - known_weight)) / whole_weight as score_upper,
    case
      when assessment_requested then whole_weight
      else
        soundness_profile_weight * soundness_requested::int
        + contribution_profile_weight * contribution_requested::int
        + committee_profile_weight * committee_requested::int
        + novelty_profile_weight * novelty_requested::int
    end as asked_weight,
    case
      when assessment_requested then overall_confidence
      when (by_soundness and soundness_confidence_0_to_3 is null)
        or (by_contribution and contribution_confidence_0_to_3 is null)
        or (by_committee and committee_confidence_0_to_3 is null)
        or (by_novelty and novelty_confidence_0_to_3 is null)
      then null
      else least(
        case when by_soundness then soundness_confidence_0_to_3 end,
        case when by_contribution then contribution_confidence_0_to_3 end,
        case when by_committee then committee_confidence_0_to_3 end,
        case when by_novelty then novelty_confidence_0_to_3 end
      )
    end as confidence_0_to_3,
    case
      when assessment_requested then repetition_count
      else
        by_soundness::int * scored_method_count
        + by_contribution::int * (dimension_count - unscored_dimension_count)
        + by_committee::int * scored_persona_count
        + by_novelty::int
    end as judgement_count
  from weighed
),
-- Bounds are compared to nine decimals, as scores are: the order of summation never makes one lie above another.
bounds as (
  select run_id, "group", idea_id, missing, 'lower' as side, round(score_lower, 9) as bound from scored
  union all
  select run_id, "group", idea_id, missing, 'upper', round(score_upper, 9) from scored
),
bounds_above as (
  select
    *,
    count(bound) filter (where side = 'lower') over above as lower_count,
    count(bound) filter (where side = 'upper') over above as upper_count
  from bounds
  window above as (partition by run_id, "group" order by bound desc nulls last range between unbounded preceding and current row exclude group)
),
-- Ahead for certain: those whose lower bound lies above its upper one. At most ahead: those whose upper bound lies above its lower one,
-- of which its own is one.
places as (
  select
    run_id,
    idea_id,
    1 + max(lower_count) filter (where side = 'upper') as best_rank,
    max(upper_count) filter (where side = 'lower') as worst_rank
  from bounds_above
  where missing is not null
  group by run_id, idea_id
)
select
  s.run_id,
  s.idea_id,
  s."group",
  s.title,
  s.score,
  s.score_lower,
  s.score_upper,
  case when s.assessment_requested then 'assessment' else 'modules' end as score_basis,
  s.missing,
  p.best_rank,
  p.worst_rank,
  case when s.asked_weight > 0 then s.known_weight / s.asked_weight else 0.0 end as coverage_0_to_1,
  s.state,
  state_reason,
  confidence_0_to_3,
  overall_0_to_1,
  overall_lowest_0_to_1,
  overall_highest_0_to_1,
  worth_asking_0_to_1,
  new_0_to_1,
  decisive_test_0_to_1,
  feasible_0_to_1,
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
  assessment_requested,
  incomplete_reason,
  duplicate_of,
  case
    when score is not null then
      group_mean + evidence_weight / (evidence_weight + 2) * (score - group_mean)
  end as shrunk_score,
  case when score is not null then evidence_weight end as evidence_weight
-- The mean is rounded, as its last bit depends on the order of rows.
from (
  select
    *,
    judgement_count * coalesce((1 + confidence_0_to_3) / 4, 1.0) as evidence_weight,
    round(avg(score) over (partition by run_id, "group"), 9) as group_mean
  from scored
) as s
left join places as p on p.run_id = s.run_id and p.idea_id = s.idea_id
