-- Count the estimates of calls whose answer will never come.
insert into spent
select run_id, scope, total(cost_usd), cast(total(tokens) as integer), 0
from (
    select run_id, idea_id as scope, cost_usd, tokens from journal
    where in_flight_of is not null and ({condition})
    union all
    select run_id, '' as scope, cost_usd, tokens from journal
    where in_flight_of is not null and ({condition})
)
where true
group by run_id, scope
on conflict (run_id, idea_id) do update
set cost_usd = cost_usd + excluded.cost_usd, tokens = tokens + excluded.tokens
