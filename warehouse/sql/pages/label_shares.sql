-- Frequency of each label in runs, by judgement, without unscored ones.
with labels as (
  select run_id, 'comparison (−1, 0, +1)' as judgement, step, score::varchar as label from comparisons where score is not null
  union all
  select run_id, 'soundness (0–10)', step, score_0_to_10::varchar from soundness_reviews where score_0_to_10 is not null
  union all
  select run_id, 'persona review (0–10)', step, score_0_to_10::varchar from persona_reviews where score_0_to_10 is not null
  union all
  select run_id, 'novelty (1–5)', step, score_1_to_5::varchar from novelty where score_1_to_5 is not null
  union all
  select run_id, 'decision', step, decision from meta_reviews where decision is not null
  union all
  select run_id, 'relevance of evidence', step, relevant::varchar from method_evidence where relevant is not null
  union all
  select run_id, 'winner of a match', step, winner from matches where winner is not null
)
select
  run_id,
  judgement,
  label,
  count(*) as judgements,
  count(*) / sum(count(*)) over (partition by run_id, judgement) as share
from labels
where list_contains($run_ids, run_id)
group by run_id, judgement, label
order by run_id, judgement, share desc, label
