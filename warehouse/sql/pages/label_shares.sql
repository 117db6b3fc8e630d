-- How often each label was given in a run, by judgement: a judge that always says the same says nothing. Unscored ones are left out.
with labels as (
  select 'comparison (−1, 0, +1)' as judgement, step, score::varchar as label from comparisons where run_id = $run_id and score is not null
  union all
  select 'soundness (0–10)', step, score_0_to_10::varchar from soundness_reviews where run_id = $run_id and score_0_to_10 is not null
  union all
  select 'persona review (0–10)', step, score_0_to_10::varchar from persona_reviews where run_id = $run_id and score_0_to_10 is not null
  union all
  select 'novelty (1–5)', step, score_1_to_5::varchar from novelty where run_id = $run_id and score_1_to_5 is not null
  union all
  select 'decision', step, decision from meta_reviews where run_id = $run_id and decision is not null
  union all
  select 'relevance of evidence', step, relevant::varchar from method_evidence where run_id = $run_id and relevant is not null
  union all
  select 'winner of a match', step, winner from matches where run_id = $run_id and winner is not null
)
select
  judgement,
  label,
  count(*) as judgements,
  count(*) / sum(count(*)) over (partition by judgement) as share
from labels
group by judgement, label
order by judgement, share desc, label
