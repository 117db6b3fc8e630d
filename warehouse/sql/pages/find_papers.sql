-- Papers of a run whose title or identifier holds a text, most cited by its ideas first.
with found as (
  select paper_id, any_value(title) as title, any_value(year) as year, any_value(url) as url, any_value(abstract) as abstract, count(distinct idea_id) as retrieved_for
  from papers
  where run_id = $run_id and ($text = '' or contains(lower(title), lower($text)) or lower(paper_id) = lower($text))
  group by paper_id
),
cited as (
  select paper_id, count(distinct idea_id) as cited_by, sum("count")::bigint as citations from citations where run_id = $run_id group by paper_id
)
select f.*, coalesce(c.cited_by, 0) as cited_by, coalesce(c.citations, 0) as citations
from found as f
left join cited as c on c.paper_id = f.paper_id
order by cited_by desc, citations desc, retrieved_for desc, f.paper_id
limit $limit
