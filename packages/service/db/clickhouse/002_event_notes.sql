-- What rating noted of an event that is no failure: a JSON list of code, metric, path and message; empty where there is none, as
-- for events that were rated before.
ALTER TABLE usage_events ADD COLUMN IF NOT EXISTS notes String CODEC(ZSTD(1)) AFTER x_billing;
