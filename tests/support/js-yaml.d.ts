/** The part of js-yaml that tests use; the package has no types. */
declare module 'js-yaml' {
  /** Returns the documents of a YAML file. @throws Error if it is not YAML */
  export function loadAll(text: string): unknown[];
}
