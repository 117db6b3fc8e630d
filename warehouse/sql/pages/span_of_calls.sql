-- When the first and the last call of a run was made; NULL without any. A run taken up again lasts longer than its row says.
select min(created_at) as first_at, max(created_at) as last_at
from (
  select created_at from llm_calls where run_id = $run_id
  union all
  select created_at from api_calls where run_id = $run_id
)
