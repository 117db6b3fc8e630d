-- Parameters of a run that a model does not support, by model; cached replies are not counted.
with sent as (
  select
    model_requested,
    string_split(parameters_dropped, ', ') as dropped,
    count(*) over (partition by model_requested) as calls
  from llm_calls
  where run_id = $run_id and not cache_hit
),
listed as (
  select model_requested, calls, unnest(dropped) as parameter from sent where dropped is not null
)
select model_requested, parameter, count(*) as dropped_calls, any_value(calls) as calls
from listed
group by model_requested, parameter
order by model_requested, parameter
