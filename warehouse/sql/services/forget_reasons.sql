delete from reasons where participant_id = :participant_id
