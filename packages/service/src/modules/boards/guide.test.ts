import {
  BOARD_CHARTS_MAX,
  BOARD_TIME_RANGES_S,
  BOARDS_MAX,
  CHART_BODY_BYTES_MAX,
  CHARTS_BYTES_MAX,
} from '@tollgate/contract';
import { expect, it } from 'vitest';
import { readGuide } from '../../testing/guide.js';

it('the guide to boards gives the figures that are in force', () => {
  const plain = readGuide('boards').text.replace(/\s+/g, ' ');
  expect(plain).toContain(`(${BOARD_TIME_RANGES_S.join(', ')} seconds;`);
  expect(plain).toContain(
    `A project has up to ${BOARDS_MAX} boards, a board up to ${BOARD_CHARTS_MAX} charts`,
  );
  expect(plain).toContain(`may take ${CHART_BODY_BYTES_MAX / 1_024} KiB`);
  expect(plain).toContain(`together ${CHARTS_BYTES_MAX / 1_048_576} MiB`);
});
