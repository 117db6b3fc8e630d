-- Every engine that wrote contenders of votes.
select engine from runs
union
select engine from survey_runs
union
select engine from check_runs
