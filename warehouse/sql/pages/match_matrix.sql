-- How often ideas of one group met along one dimension and who won, one row per pair in which idea_id won, lost or tied.
with shown as (
  select first_idea_id, second_idea_id, winner
  from matches
  where run_id = $run_id
    and ranking_id = $ranking_id
    and "group" = $group
    and dimension = $dimension
    and list_contains($idea_ids, first_idea_id)
    and list_contains($idea_ids, second_idea_id)
),
seen_from_both as (
  select first_idea_id as idea_id, second_idea_id as other_idea_id, winner = 'first' as won, winner = 'second' as lost, winner = 'tie' as tied
  from shown
  union all
  select second_idea_id, first_idea_id, winner = 'second', winner = 'first', winner = 'tie'
  from shown
)
select
  idea_id,
  other_idea_id,
  count(*) filter (where won) as wins,
  count(*) filter (where lost) as losses,
  count(*) filter (where tied) as ties,
  count(*) filter (where won is null) as unscored_count
from seen_from_both
group by idea_id, other_idea_id
order by idea_id, other_idea_id
