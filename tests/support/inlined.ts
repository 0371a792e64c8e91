const REFERENCE = /^#\/(.+)$/;

/**
 * The document with each reference replaced by what it refers to in the document; descriptions next to a
 * reference are left out.
 * @throws Error for a reference to nothing
 */
export function inlined<T>(document: T): T {
  return replaced(document, document) as T;
}

function replaced(value: unknown, document: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => replaced(one, document));
  const { $ref } = value as { readonly $ref?: unknown };
  if (typeof $ref === 'string') return replaced(referredTo($ref, document), document);
  return Object.fromEntries(Object.entries(value).map(([key, inside]) => [key, replaced(inside, document)]));
}

function referredTo(reference: string, document: unknown): unknown {
  const path = REFERENCE.exec(reference)?.[1]?.split('/') ?? [];
  let found = document;
  for (const key of path) found = (found as Record<string, unknown> | undefined)?.[key];
  if (found === undefined) throw new Error(`${reference} refers to nothing`);
  return found;
}
