/** The part of a list that the caller asks for. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}
