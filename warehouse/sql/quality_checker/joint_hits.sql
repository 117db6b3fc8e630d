-- Papers hit by every judge (each on any problem of the paper), by a majority, by any; and by every judge on one and the same problem.
-- Judges stop at a paper's first hit, so hits on the same problem are at least same_problem_hit_count.
with
  judges as (select count(distinct judge) as judge_count from votes),
  said as (
    select model, approach, entry_id, judge, bool_or(hit) as hit
    from votes
    group by all
  ),
  papers_said as (
    select model, approach, entry_id, count(hit) as voices, count(*) filter (where hit) as yes_count
    from said
    group by all
  ),
  same_problem as (
    select distinct model, approach, entry_id
    from (
      select model, approach, entry_id, problem_id, count(distinct judge) as yes_count
      from votes
      where hit
      group by all
    )
    cross join judges
    where yes_count = judge_count
  )
select
  checks.model,
  checks.approach,
  count(*) filter (where voices = judge_count) as paper_count,
  count(*) filter (where voices = judge_count and yes_count = judge_count) as all_hit_count,
  count(*) filter (where voices = judge_count and 2 * yes_count > judge_count) as majority_hit_count,
  count(*) filter (where voices = judge_count and yes_count > 0) as any_hit_count,
  count(*) filter (where voices = judge_count and same_problem.entry_id is not null) as same_problem_hit_count,
  count(*) filter (where coalesce(voices, 0) < judge_count) as undecided_count
from checks
cross join judges
left join papers_said using (model, approach, entry_id)
left join same_problem using (model, approach, entry_id)
group by checks.model, checks.approach
order by checks.approach, checks.model
