select participant from people where participant_id = :participant_id
