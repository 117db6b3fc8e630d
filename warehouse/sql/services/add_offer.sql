insert into offers (offer_id, voter, contest, pair, offer, offered_at)
values (:offer_id, :voter, :contest, :pair, :offer, :offered_at)
