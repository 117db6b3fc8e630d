-- severity: critical
-- A paper that is part of the set has reviews and statements.
select run_id, paper_id
from curated_ideas
where dropped_reason is null and (statement_count = 0 or used_review_count = 0)
