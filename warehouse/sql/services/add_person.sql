insert into people (participant_id, key, participant) values (:participant_id, :key, :participant)
on conflict do nothing
returning participant_id
