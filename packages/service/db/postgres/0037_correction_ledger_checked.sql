-- Reads all rows under a lock that lets others read and write.
-- oldest release: 0.1.0
alter table ledger_transactions validate constraint ledger_transactions_kind_check,
  validate constraint ledger_transactions_correction_check;
