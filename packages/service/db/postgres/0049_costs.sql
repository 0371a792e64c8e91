-- Pricing rule sets can give costs instead of prices, and totals contain costs.
-- oldest release: 0.1.0

-- What the rules of a pricing rule set give; extractor rule sets have the default.
alter table rule_sets add column purpose text not null default 'price' check (purpose in ('price', 'cost'));

-- Costs in the currency of the row, and the number of charge items that have one. A row of a currency that only costs
-- have counts no charge items.
alter table usage_totals add column cost numeric not null default 0, add column cost_count bigint not null default 0;
