-- Answering models of a run's steps, cached replies included.
select
  step,
  model_requested,
  list_sort(list(distinct model_answered)) as models_answered,
  count(*) as answered_calls
from llm_calls
where run_id = $run_id and status in ('ok', 'cached') and model_answered is not null
group by step, model_requested
order by step, model_requested
