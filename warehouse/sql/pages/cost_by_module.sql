-- What each module of a run cost, in all and for an idea, the dearest in tokens first.
select
  module,
  ideas,
  round(llm_calls_per_idea, 1) as llm_calls_per_idea,
  round(prompt_tokens_per_idea)::bigint as prompt_tokens_per_idea,
  round(completion_tokens_per_idea)::bigint as completion_tokens_per_idea,
  round(thinking_tokens_per_idea)::bigint as thinking_tokens_per_idea,
  cost_usd_per_idea,
  cost_usd,
  unknown_price_calls
from module_costs
where run_id = $run_id
order by prompt_tokens + completion_tokens desc, module
