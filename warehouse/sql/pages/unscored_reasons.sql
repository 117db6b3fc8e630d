-- Why judgements of a run have no score, by table; reason NULL: they have one. Sources that did not answer and empty ones differ here.
with judged as (
  select 'soundness_reviews' as judgement, unscored_reason from soundness_reviews where run_id = $run_id
  union all
  select 'plan_reviews', unscored_reason from plan_reviews where run_id = $run_id
  union all
  select 'method_evidence', unscored_reason from method_evidence where run_id = $run_id
  union all
  select 'comparisons', unscored_reason from comparisons where run_id = $run_id
  union all
  select 'contribution_reviews', unscored_reason from contribution_reviews where run_id = $run_id
  union all
  select 'persona_reviews', unscored_reason from persona_reviews where run_id = $run_id
  union all
  select 'meta_reviews', unscored_reason from meta_reviews where run_id = $run_id
  union all
  select 'novelty', unscored_reason from novelty where run_id = $run_id
  union all
  select 'matches', unscored_reason from matches where run_id = $run_id
)
select
  judgement,
  unscored_reason as reason,
  count(*) as judgements,
  count(*) / sum(count(*)) over (partition by judgement) as share
from judged
group by judgement, unscored_reason
order by judgement, judgements desc, reason
