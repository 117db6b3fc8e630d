select contest, offer from offers
where voter = :voter and closed is null
order by offered_at desc
