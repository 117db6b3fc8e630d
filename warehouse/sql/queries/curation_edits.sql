-- What people looked at and changed in a curated set, oldest first.
select * from curation_edits where run_id = $run_id order by edited_at, edit_id
