import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { CONFIRMED_MS_MAX, confirmedPieces } from './held-inserts.js';

describe('the bytes of an insert', () => {
  /** Passes three pieces on; before each of them, `beforePiece` runs. */
  async function send(
    beforePiece: (place: number) => void,
    confirm: () => Promise<void>,
    nowMs: () => number,
  ) {
    async function* pieces() {
      for (const [place, text] of ['a', 'b', 'c'].entries()) {
        beforePiece(place);
        yield Buffer.from(text);
      }
    }
    return (await buffer(confirmedPieces(pieces(), confirm, nowMs))).toString();
  }

  it('are confirmed once before the first', async () => {
    const steps: unknown[] = [];
    const sent = await send(
      (place) => steps.push(place),
      async () => void steps.push('confirm'),
      () => 0,
    );
    expect(sent).toBe('abc');
    expect(steps).toEqual([0, 'confirm', 1, 2]);
  });

  it('are confirmed again after a while', async () => {
    const steps: unknown[] = [];
    let nowMs = 0;
    const onPiece = (place: number) => {
      steps.push(place);
      if (place === 2) nowMs += CONFIRMED_MS_MAX + 1;
    };
    expect(
      await send(
        onPiece,
        async () => void steps.push('confirm'),
        () => nowMs,
      ),
    ).toBe('abc');
    expect(steps).toEqual([0, 'confirm', 1, 2, 'confirm']);
  });

  it('are confirmed again when the answer was late', async () => {
    let [nowMs, asked] = [0, 0];
    const confirm = async () => {
      if (++asked === 1) nowMs += CONFIRMED_MS_MAX + 1;
    };
    expect(
      await send(
        () => {},
        confirm,
        () => nowMs,
      ),
    ).toBe('abc');
    expect(asked).toBe(2);
  });

  it('end with the error of the one who confirms, before any piece', async () => {
    const sent: Buffer[] = [];
    const pieces = confirmedPieces(
      (async function* () {
        yield Buffer.from('a');
      })(),
      () => Promise.reject(new Error('lost')),
    );
    const receive = async () => {
      for await (const piece of pieces) sent.push(piece);
    };
    await expect(receive()).rejects.toThrow('lost');
    expect(sent).toEqual([]);
  });

  it('are cut into pieces of at most 1 MiB', async () => {
    const whole = Buffer.alloc(2_500_000, 'x');
    const sizes: number[] = [];
    const pieces = (async function* () {
      yield whole;
    })();
    for await (const piece of confirmedPieces(pieces, async () => {})) sizes.push(piece.length);
    expect(sizes).toEqual([1_048_576, 1_048_576, 402_848]);
  });
});
