-- Calls of a run by outcome, by source or model and, for models, by step; said: the most frequent
-- error message.
with calls as (
  select
    'source' as kind,
    replace(source, '_', ' ') as party,
    '' as step,
    case when cache_hit then 'cached' when failure_reason is null then 'ok' else failure_reason end as ended,
    'HTTP ' || nullif(status, 200)::varchar as said
  from api_calls
  where run_id = $run_id
  union all
  select 'model', model_requested, step, case when cache_hit then 'cached' else status end, error
  from llm_calls
  where run_id = $run_id
)
select kind, party, step, ended, count(*) as calls, mode(said) as said
from calls
group by kind, party, step, ended
order by kind desc, party, step, calls desc, ended
