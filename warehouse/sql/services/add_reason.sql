insert into reasons (reason_sha256, participant_id, salt, reason)
values (:reason_sha256, :participant_id, :salt, :reason)
