-- Matches of some groups of a ranking, in the order they were played.
select * from matches
where run_id = $run_id and ranking_id = $ranking_id and list_contains($groups, "group")
order by "group", position
