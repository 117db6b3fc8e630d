-- Reasons for missing scores of runs, by table; reason NULL: scored. Failed sources and empty
-- results have different reasons.
with judged as (
  select run_id, 'soundness_reviews' as judgement, unscored_reason from soundness_reviews
  union all
  select run_id, 'plan_reviews', unscored_reason from plan_reviews
  union all
  -- That it cannot be told is an answer.
  select run_id, 'officer_answers', nullif(unscored_reason, 'no_evidence') from officer_answers
  union all
  select run_id, 'method_evidence', unscored_reason from method_evidence
  union all
  select run_id, 'comparisons', unscored_reason from comparisons
  union all
  select run_id, 'contribution_reviews', unscored_reason from contribution_reviews
  union all
  select run_id, 'persona_reviews', unscored_reason from persona_reviews
  union all
  select run_id, 'meta_reviews', unscored_reason from meta_reviews
  union all
  select run_id, 'novelty', unscored_reason from novelty
  union all
  select run_id, 'assessments', unscored_reason from assessments
  union all
  select run_id, 'matches', unscored_reason from matches
)
select
  run_id,
  judgement,
  unscored_reason as reason,
  count(*) as judgements,
  count(*) / sum(count(*)) over (partition by run_id, judgement) as share
from judged
where list_contains($run_ids, run_id)
group by run_id, judgement, unscored_reason
order by run_id, judgement, judgements desc, reason
