-- Charts can show totals, beside those of the period before. The next migration checks the charts that exist.
-- oldest release: 0.1.0
alter table charts
  -- Null for no comparison.
  add column comparison text check (comparison in ('previous_period')),
  drop constraint charts_chart_type_check,
  add constraint charts_chart_type_check
    check (chart_type in ('line', 'area', 'bar', 'big_number', 'top_n', 'table')) not valid;
