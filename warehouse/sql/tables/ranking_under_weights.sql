-- A query on `idea_scores` for one run under given weights: the mart is evaluated over a run with
-- these weights.
with runs as (
  select * replace (
    $soundness as soundness_weight,
    $contribution as contribution_weight,
    $committee as committee_weight,
    $novelty as novelty_weight,
    $worth_asking as worth_asking_weight,
    $new as new_weight,
    $decisive_test as decisive_test_weight,
    $feasible as feasible_weight
  )
  from runs
  where run_id = $run_id
),
idea_scores as ({idea_scores}
)
{question}
