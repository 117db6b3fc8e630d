-- severity: critical
-- A paper that is part of the set has its statements and as many usable reviews as were asked for.
select i.run_id, i.paper_id
from curated_ideas as i
join curation_runs as h using (run_id)
where i.dropped_reason is null
  and (i.statement_count = 0 or i.used_review_count < h.fewest_reviews)
