insert into visited
with frontier as (select paper from visited where hop = $hop - 1),
met as (
  select edges.cited as paper, frontier.paper as before from frontier join edges on edges.citing = frontier.paper
  union all
  select other.citing, frontier.paper from frontier join edges_by_cited as other on other.cited = frontier.paper
)
select paper, min(before), $hop from met where paper not in (select paper from visited) group by paper
