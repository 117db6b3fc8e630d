-- severity: critical
-- Every statement cites sentences of the same paper.
with named as (
  select run_id, paper_id, statement_id, unnest(sentence_ids) as sentence_id
  from curated_statements
)
select n.run_id, n.paper_id, n.statement_id
from named as n
left join curated_sentences as s using (run_id, paper_id, sentence_id)
where s.sentence_id is null
