-- The ideas of a run that cost most.
select
  c.idea_id,
  any_value(i.title) as title,
  any_value(i."group") as "group",
  sum(c.cost_usd) as cost_usd,
  count(*) filter (where c.cost_usd is null and not c.cache_hit) as unknown_price_calls,
  count(*) filter (where not c.cache_hit) as calls,
  sum(c.prompt_tokens + c.completion_tokens)::bigint as tokens,
  sum(c.latency_seconds) as latency_seconds
from llm_calls as c
left join ideas as i on i.run_id = c.run_id and i.idea_id = c.idea_id
where c.run_id = $run_id
group by c.idea_id
order by cost_usd desc nulls last, tokens desc, c.idea_id
limit $limit
