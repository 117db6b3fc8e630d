-- Steps of runs whose questions ended without a usable answer, with the most frequent status of their failed attempts. Steps that leave judgements are in unscored_reasons.
with judging as (
  select run_id, step from soundness_reviews
  union
  select run_id, step from plan_reviews
  union
  select run_id, step from officer_answers
  union
  select run_id, step from method_evidence
  union
  select run_id, step from comparisons
  union
  select run_id, step from contribution_reviews
  union
  select run_id, step from persona_reviews
  union
  select run_id, step from meta_reviews
  union
  select run_id, step from novelty
  union
  select run_id, step from matches
),
attempts as (
  select
    run_id,
    step,
    if(status in ('ok', 'cached') and error is null, null, status) as failure,
    count(*) filter (where attempt = 1) as questions,
    count(*) as attempts
  from llm_calls
  where list_contains($run_ids, run_id)
  group by run_id, step, failure
)
-- A question ends with its first usable answer, so that those without one are the difference.
select
  run_id,
  step,
  sum(questions)::bigint as questions,
  (sum(questions) - coalesce(sum(attempts) filter (where failure is null), 0))::bigint as unanswered,
  arg_max(failure, (attempts, failure)) as failure
from attempts anti join judging using (run_id, step)
group by run_id, step
having unanswered > 0
order by run_id, step
