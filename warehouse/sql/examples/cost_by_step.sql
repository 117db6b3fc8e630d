-- Cost and tokens by step and model, over all runs
select step, model_requested, count(*) as calls, sum(cost_usd) as cost_usd, sum(prompt_tokens + completion_tokens) as tokens
from llm_calls
group by step, model_requested
order by cost_usd desc nulls last
