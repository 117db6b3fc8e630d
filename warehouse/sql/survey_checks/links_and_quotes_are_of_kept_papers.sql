-- severity: critical
-- Links join kept papers, and quotes are about kept papers and from kept papers.
with named as (
  select run_id, idea_id as question_id, unnest([citing_paper_id, cited_paper_id]) as paper_id
  from citation_edges
  union all
  select run_id, question_id, unnest([paper_id, said_in_paper_id]) from survey_quotes
  union all
  select run_id, question_id, unnest(key_paper_ids) from survey_clusters
)
select n.run_id, n.question_id, n.paper_id
from named as n
left join survey_papers as p
  on p.run_id = n.run_id and p.question_id = n.question_id and p.paper_id = n.paper_id and p.kept
where p.paper_id is null
