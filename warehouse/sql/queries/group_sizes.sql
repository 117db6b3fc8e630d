-- How many ideas the groups of a run have, as they are ranked.
select "group", count(*) as idea_count from group_rankings where run_id = $run_id group by "group"
