-- severity: critical
-- A kept paper was judged, has a weight, and belongs to a cluster.
select run_id, question_id, paper_id
from survey_papers
where kept and (relevance_0_to_5 is null or weight is null or cluster_id is null)
