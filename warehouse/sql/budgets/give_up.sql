-- Count the estimates of calls that get no reply.
insert into spent
select
    run_id, scope, coalesce(sum(cost_usd), 0.0), cast(coalesce(sum(tokens), 0) as bigint), 0
from (
    select run_id, idea_id as scope, cost_usd, tokens from journal
    where in_flight_of is not null and ({condition})
    union all
    select run_id, '' as scope, cost_usd, tokens from journal
    where in_flight_of is not null and ({condition})
) as given_up
where true
group by run_id, scope
on conflict (run_id, idea_id) do update
set
    cost_usd = spent.cost_usd + excluded.cost_usd,
    tokens = spent.tokens + excluded.tokens
