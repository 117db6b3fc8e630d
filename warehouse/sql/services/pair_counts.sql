select pair, count(*) from offers
where contest = :contest and closed is distinct from 'skipped'
group by pair
