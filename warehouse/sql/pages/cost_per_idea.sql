-- Cost of each idea of a run, highest first. cost_usd: of the calls with a known price; incomplete
-- if unknown_price_calls is above 0.
select
  i.idea_id,
  any_value(i.title) as title,
  any_value(i."group") as "group",
  coalesce(sum(c.cost_usd), 0) as cost_usd,
  count(c.call_id) filter (where c.cost_usd is null and not c.cache_hit) as unknown_price_calls,
  count(c.call_id) filter (where not c.cache_hit) as calls,
  coalesce(sum(c.prompt_tokens + c.completion_tokens), 0)::bigint as tokens,
  coalesce(sum(c.latency_seconds), 0) as latency_seconds
from ideas as i
left join llm_calls as c on c.run_id = i.run_id and c.idea_id = i.idea_id
where i.run_id = $run_id
group by i.idea_id
order by cost_usd desc, tokens desc, i.idea_id
