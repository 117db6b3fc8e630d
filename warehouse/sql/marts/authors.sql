-- Who wrote the papers retrieved for each idea, one row for each author of a paper in printed order; author_id is NULL
-- where the source tells none.
select
  run_id,
  idea_id,
  paper_id,
  generate_subscripts(authors, 1) as place,
  unnest(authors) as name,
  nullif(unnest(author_ids[:len(authors)]), '') as author_id
from papers
