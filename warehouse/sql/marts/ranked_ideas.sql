-- Ideas within their group, once for each ranking of their run (once without any): what `group_rankings` shows of one of them.
-- shown: whether it is the ranking that group_rankings shows: of the run's own engine, in groups as given, the newest. Rankings never mix.
-- has_matches: whether any idea of the group got a strength from matches. basis: matches where these rank an idea of the group below another,
-- else scores: a group without a scored match, or whose matches tell no ideas apart, keeps the order by scores.
-- rank by scores: among the ideas with a score; best_rank, worst_rank: those of the matches, else those that the bounds of an idea without a
-- score allow within its group as given (NULL in a group found by clusters).
-- Scores are compared to nine decimals, so that the order of summation never breaks a tie.
with numbered as (
  select
    k.*,
    row_number() over (
      partition by k.run_id
      order by k.engine = r.engine desc, k.grouping = 'given' desc, k.finished_at desc, k.ranking_id
    ) = 1 as shown
  from rankings as k
  inner join runs as r on r.run_id = k.run_id
),
joined as (
  select
    i.*,
    n.ranking_id,
    n.engine as ranking_engine,
    coalesce(n.shown, true) as shown,
    case when n.grouping = 'clusters' then s."group" else i."group" end as ranking_group,
    s.rank as match_rank,
    s.best_rank as match_best_rank,
    s.worst_rank as match_worst_rank,
    s.strength,
    s.lower as strength_lower,
    s.upper as strength_upper,
    s.wins,
    s.losses,
    s.ties,
    s.unscored_count as unscored_match_count,
    s.unranked_reason,
    a.rank as rank_across_groups,
    a.strength as strength_across_groups,
    a.lower as strength_across_groups_lower,
    a.upper as strength_across_groups_upper
  from idea_scores as i
  left join numbered as n on n.run_id = i.run_id
  left join ratings as s
    on s.run_id = n.run_id
    and s.ranking_id = n.ranking_id
    and s.idea_id = i.idea_id
    and s.method = n.method
    and s.dimension = 'overall'
  left join ratings_across_groups as a
    on a.run_id = n.run_id
    and a.ranking_id = n.ranking_id
    and a.idea_id = i.idea_id
    and a.dimension = 'overall'
),
based as (
  select
    *,
    count(strength) over (partition by run_id, ranking_id, ranking_group) > 0 as has_matches,
    case when max(match_rank) over (partition by run_id, ranking_id, ranking_group) > 1 then 'matches' else 'scores' end as basis,
    basis = 'scores' and match_best_rank is null and ranking_group is not distinct from "group" as by_bounds
  from joined
),
-- One replacement at a time: DuckDB keeps several in no order, and the mart would look changed at each publication.
with_best_rank as (
  select * replace (case when by_bounds then best_rank else match_best_rank end as best_rank)
  from based
)
select
  * replace (case when by_bounds then worst_rank else match_worst_rank end as worst_rank),
  case
    when basis = 'matches' then match_rank
    when score is not null then rank() over (partition by run_id, ranking_id, ranking_group order by round(score, 9) desc nulls last)
  end as rank
from with_best_rank
