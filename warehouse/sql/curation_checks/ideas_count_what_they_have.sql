-- severity: critical
-- Counts of reviews, sentences and statements are those of the paper's rows; leaks are among its
-- drops.
select i.run_id, i.paper_id
from curated_ideas as i
where i.review_count <> (
    select count(*) from curated_reviews as r
    where r.run_id = i.run_id and r.paper_id = i.paper_id
  )
  or i.sentence_count <> (
    select count(*) from curated_sentences as s
    where s.run_id = i.run_id and s.paper_id = i.paper_id
  )
  or i.statement_count <> (
    select count(*) from curated_statements as t
    where t.run_id = i.run_id and t.paper_id = i.paper_id
  )
  or i.leak_count <> (
    select count(*) from curated_drops as d
    where d.run_id = i.run_id and d.paper_id = i.paper_id
      and d.left_out_of = 'idea' and d.reason = 'tells_results'
  )
