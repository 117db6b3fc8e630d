-- Score distributions of some runs in bins of one point, 0 to 10, by run and what is scored; bin NULL: no score. The tenth includes 10.
with scored as (
  unpivot (
    select
      run_id,
      idea_id,
      coalesce(score, -1) as score,
      case when soundness_requested then coalesce(soundness_0_to_10, -1) end as soundness,
      case when contribution_requested then coalesce(contribution_0_to_10, -1) end as contribution,
      case when committee_requested then coalesce(committee_0_to_10, -1) end as committee,
      case when novelty_requested then coalesce(novelty_0_to_10, -1) end as novelty
    from idea_scores
    where list_contains($run_ids, run_id)
  )
  on score, soundness, contribution, committee, novelty
  into name what value points
)
select
  run_id,
  what,
  case when points >= 0 then least(floor(points), 9)::bigint end as bin,
  count(*) as ideas,
  sum(points) filter (where points >= 0) as points,
  sum(points * points) filter (where points >= 0) as squared_points
from scored
group by run_id, what, bin
order by run_id, what, bin nulls last
