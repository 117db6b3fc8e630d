-- Ideas ranked within their group and run, best first; ideas that cannot be told apart share a rank, and what was not judged has none.
-- basis: matches where the group was ranked by pairwise matches, else scores. Of several rankings of a run that of the run's own engine
-- counts, then the newest; rankings never mix. best_rank and worst_rank: the ranks that the 95 % intervals of the strengths allow.
-- Scores are compared to nine decimals, so that the order of summation never breaks a tie. NULL group: ideas given without one.
with chosen as (
  select k.run_id, k.ranking_id, k.engine, k.grouping, k.method
  from rankings as k
  inner join runs as r on r.run_id = k.run_id
  qualify row_number() over (
    partition by k.run_id
    order by k.engine = r.engine desc, k.finished_at desc, k.ranking_id
  ) = 1
),
rated as (
  select c.run_id, c.ranking_id, c.engine, s.* exclude (run_id, ranking_id)
  from chosen as c
  inner join ratings as s
    on s.run_id = c.run_id and s.ranking_id = c.ranking_id and s.method = c.method and s.dimension = 'overall'
),
grouped as (
  select
    i.*,
    r.ranking_id,
    r.engine as ranking_engine,
    r.rank as match_rank,
    r.best_rank,
    r.worst_rank,
    r.strength,
    r.lower as strength_lower,
    r.upper as strength_upper,
    r.wins,
    r.losses,
    r.ties,
    r.unscored_count as unscored_match_count,
    r.unranked_reason,
    case when c.grouping = 'clusters' then r."group" else i."group" end as ranking_group
  from idea_scores as i
  left join chosen as c on c.run_id = i.run_id
  left join rated as r on r.run_id = i.run_id and r.idea_id = i.idea_id
),
based as (
  select *, count(strength) over (partition by run_id, ranking_group) > 0 as has_matches from grouped
)
select
  run_id,
  ranking_group as "group",
  case
    when has_matches then match_rank
    when score is not null then rank() over (partition by run_id, ranking_group order by round(score, 9) desc nulls last)
  end as rank,
  idea_id,
  title,
  score,
  soundness_0_to_10,
  contribution_0_to_10,
  unscored_method_count + unscored_comparison_count + unscored_dimension_count as unscored_count,
  failure_count,
  case when has_matches then 'matches' else 'scores' end as basis,
  case when has_matches then ranking_id end as ranking_id,
  case when has_matches then ranking_engine end as ranking_engine,
  case when has_matches then best_rank end as best_rank,
  case when has_matches then worst_rank end as worst_rank,
  case when has_matches then strength end as strength,
  case when has_matches then strength_lower end as strength_lower,
  case when has_matches then strength_upper end as strength_upper,
  case when has_matches then wins end as wins,
  case when has_matches then losses end as losses,
  case when has_matches then ties end as ties,
  case when has_matches then unscored_match_count end as unscored_match_count,
  case when has_matches then unranked_reason end as unranked_reason
from based
