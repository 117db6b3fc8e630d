-- What a question about `idea_scores` answers of one run when its modules weigh as given: the mart is made anew over a run that says so.
with runs as (
  select * replace (
    $soundness as soundness_weight,
    $contribution as contribution_weight,
    $committee as committee_weight,
    $novelty as novelty_weight
  )
  from runs
  where run_id = $run_id
),
idea_scores as ({idea_scores}
)
{question}
