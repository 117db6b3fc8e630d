-- The manuscripts of check runs as a release lists them.
select distinct manuscript_id as entry_id, title, known_reason as retraction_comment, page_count
from lake.manuscripts
where run_id in ($run_ids)
