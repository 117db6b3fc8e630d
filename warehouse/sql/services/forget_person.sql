delete from people where participant_id = :participant_id returning participant_id
