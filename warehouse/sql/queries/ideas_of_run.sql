-- The ideas of a run as read, by identifier.
select idea_id, "group", title, text, metadata from ideas where run_id = $run_id order by idea_id
