-- Views and edits of a curated set by people, oldest first.
select * from curation_edits where run_id = $run_id order by edited_at, edit_id
