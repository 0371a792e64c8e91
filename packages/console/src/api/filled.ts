type Filled<Query> = { [Name in keyof Query]?: Exclude<Query[Name], '' | undefined> };

/** A query without the filters that are empty. */
export function filled<Query extends object>(query: Query): Filled<Query> {
  const given = Object.entries(query).filter(([, value]) => value !== '' && value !== undefined);
  return Object.fromEntries(given) as Filled<Query>;
}
