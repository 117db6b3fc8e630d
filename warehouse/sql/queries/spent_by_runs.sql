-- Total spending of runs by the fields of a budget, and their calls; cached calls cost nothing.
select
  coalesce((select sum(cost_usd) from llm_calls where run_id in (select unnest($run_ids))), 0)::double as maximum_cost_usd,
  coalesce(
    (select sum(prompt_tokens + completion_tokens) from llm_calls where run_id in (select unnest($run_ids)) and not cache_hit), 0
  )::bigint as maximum_tokens,
  (select count(*) from api_calls where run_id in (select unnest($run_ids)) and not cache_hit)::bigint as maximum_requests,
  (select count(*) from llm_calls where run_id in (select unnest($run_ids)))::bigint as llm_calls
