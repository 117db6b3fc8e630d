-- Papers on which each judge said yes to any problem of a checker; papers without a vote of the judge are undecided.
with
  judges as (select distinct judge from votes),
  said as (
    select model, approach, entry_id, judge, bool_or(hit) as hit
    from votes
    group by all
  )
select
  model,
  approach,
  judge,
  count(hit) as paper_count,
  count(*) filter (where hit) as hit_count,
  count(*) - count(hit) as undecided_count
from checks
cross join judges
left join said using (model, approach, entry_id, judge)
group by model, approach, judge
order by approach, model, judge
