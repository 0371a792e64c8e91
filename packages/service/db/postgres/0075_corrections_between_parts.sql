-- Usage between two parts of a correction costs what it would cost without them.
-- oldest release: 0.1.0

-- By how much the parts so far have changed the price of the total; null where that is not known.
alter table usage_correction_counters add column price_change numeric;
