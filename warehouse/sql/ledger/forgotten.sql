-- Whose name and reasons were deleted, as the ledger has it.
select distinct participant_id from ledger where action = 'forgotten'
