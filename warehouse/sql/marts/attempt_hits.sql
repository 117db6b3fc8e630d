-- Whether each judge says that an attempt at a manuscript found the authors' own reason: a judge's most frequent answer about a problem counts.
-- True: one problem is it; false: none is, or none was reported; NULL: the attempt failed, or missing votes leave it open.
with
  answers as (
    select run_id, manuscript_id, problem_id, judge, count(*) filter (where hit) as yes_count, count(*) filter (where not hit) as no_count
    from votes
    group by all
  ),
  judges as (select run_id, unnest(judges) as judge from check_runs)
select
  a.run_id,
  a.manuscript_id,
  a.attempt,
  j.judge,
  a.problem_count,
  case
    when a.problem_count is null then null
    when a.problem_count = 0 then false
    when bool_or(coalesce(v.yes_count > v.no_count, false)) then true
    when bool_or(coalesce(v.yes_count = v.no_count, true)) then null
    else false
  end as hit,
  min(p.rank) filter (where v.yes_count > v.no_count) as first_hit_rank
from attempts as a
inner join judges as j on j.run_id = a.run_id
left join problems as p on p.run_id = a.run_id and p.manuscript_id = a.manuscript_id and p.attempt = a.attempt
left join answers as v
  on v.run_id = p.run_id and v.manuscript_id = p.manuscript_id and v.problem_id = p.problem_id and v.judge = j.judge
group by a.run_id, a.manuscript_id, a.attempt, j.judge, a.problem_count
