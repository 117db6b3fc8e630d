-- By round: versions made, kept and dropped, mean score, distance to the nearest paper, and cost of
-- making and evaluating.
with evaluated as (
  select run_id, (row_number() over (order by place))::integer as round
  from (select unnest($run_ids) as run_id, generate_subscripts($run_ids, 1) as place)
),
made as (
  select round_id, sum(cost_usd) as cost_usd, count(*) filter (cost_usd is null) as unpriced_count, count(*) as calls
  from (select idea_id as round_id, cost_usd from llm_calls where run_id = $run_id)
  group by round_id
),
judged as (
  select e.round, sum(c.cost_usd) as cost_usd, count(*) filter (c.cost_usd is null) as unpriced_count, count(*) as calls
  from evaluated e join llm_calls c using (run_id) group by e.round
),
scores as (
  select e.round, avg(s.score) as mean_score, count(s.score) as scored_count
  from evaluated e join idea_scores s using (run_id) group by e.round
)
select
  v.round,
  count(v.text) as made_count,
  count(*) filter (v.text is null) as unscored_count,
  count(*) filter (v.dropped_reason is not null) as dropped_count,
  any_value(s.mean_score) as mean_score,
  coalesce(any_value(s.scored_count), 0) as scored_count,
  avg(v.closest_similarity_0_to_1) filter (v.dropped_reason is distinct from 'near_duplicate') as mean_closest,
  avg(len(string_split(v.text, ' '))) as mean_words,
  coalesce(any_value(m.calls), 0) + coalesce(any_value(j.calls), 0) as calls,
  case
    when coalesce(any_value(m.unpriced_count), 0) + coalesce(any_value(j.unpriced_count), 0) = 0
    then coalesce(any_value(m.cost_usd), 0) + coalesce(any_value(j.cost_usd), 0)
  end as cost_usd
from idea_versions v
left join made m using (round_id)
left join judged j on j.round = v.round
left join scores s on s.round = v.round
where v.run_id = $run_id
group by v.round
order by v.round
