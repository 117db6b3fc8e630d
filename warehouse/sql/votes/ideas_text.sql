-- Text of an idea for voters.
select title as heading, text from ideas where run_id = $run_id and idea_id = $item_id
