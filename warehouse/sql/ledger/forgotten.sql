-- People whose name and reasons were deleted, according to the ledger.
select distinct participant_id from ledger where action = 'forgotten'
