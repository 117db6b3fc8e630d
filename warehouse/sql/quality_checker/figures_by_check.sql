-- Problems and tokens of every check, by checker and paper, for intervals of the means.
select model, approach, problem_count, input_tokens, thinking_tokens, output_tokens
from checks
order by model, approach, entry_id, attempt_id
