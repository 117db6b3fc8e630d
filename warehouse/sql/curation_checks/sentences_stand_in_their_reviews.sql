-- severity: critical
-- Every sentence is in its review verbatim, at its position.
select s.run_id, s.paper_id, s.sentence_id
from curated_sentences as s
left join curated_reviews as r using (run_id, paper_id, review_id)
where r.review_id is null
  or r.unused_reason is not null
  or substr(r.text, s.start + 1, length(s.text)) <> s.text
