-- Share of wins of the idea shown first, by group of every ranking of runs.
select
  g.run_id,
  g.ranking_id,
  r.engine,
  g."group",
  g.match_count,
  g.unscored_match_count,
  g.position_bias,
  g.order_agreement_0_to_1
from ranking_groups as g
inner join rankings as r on r.run_id = g.run_id and r.ranking_id = g.ranking_id
where list_contains($run_ids, g.run_id)
order by g.run_id, abs(g.position_bias) desc nulls last, g.ranking_id, g."group"
