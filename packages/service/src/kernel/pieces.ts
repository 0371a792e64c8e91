/** Work that comes in small pieces, between which whoever asked for it may do something else. */
export type Pieces<Result> = Generator<void, Result, void>;

/** Does all pieces without a pause. */
export function atOnce<Result>(pieces: Pieces<Result>): Result {
  for (;;) {
    const { done, value } = pieces.next();
    if (done) return value;
  }
}
