import { describe, expect, it } from 'vitest';
import { stored } from '../../../testing/index.js';
import { AccountDebits } from '../posting/debits.js';
import { CompiledRoute, LimitRuleIndex } from '../rules/index.js';
import { compiledRule } from '../rules/rule.testing.js';
import { CurrentWindows, type OpenedWindow } from './current-windows.js';
import type { SubjectUsage, WindowSum } from './subject-usage.js';

const HOUR_S = 3_600;
const SCOPE = { tenantId: 'ten_1', projectId: 'prj_1', projectNo: 1 };
const rule = compiledRule({ notifyAt: [50] });
const SETTINGS = { timezone: 'UTC', weekStart: 'monday', anchorS: 0 } as const;

const usage: SubjectUsage = {
  scope: SCOPE,
  subject: { type: 'user', id: 'u1' },
  route: new CompiledRoute(
    'ra_1',
    { id: 'acct_1', externalId: null },
    SETTINGS,
    new LimitRuleIndex([rule]),
    0,
  ),
  account: new AccountDebits('acct_1', SCOPE, 0),
  above: [],
  parents: [],
  latest: [],
  all: undefined,
};

/** The amount to add to the window that begins at an hour. */
function sumAt(hour: number, used: string): WindowSum {
  const window = { startS: hour * HOUR_S, endS: (hour + 1) * HOUR_S };
  return { usage, rule, window, used: stored(used), values: undefined, opens: false };
}

/** A window with a limit of 10 whose first alert, at 50 %, is due next. */
function windowAt(hour: number, used: string, ruleNo = 1): OpenedWindow {
  const [startS, endS] = [hour * HOUR_S, (hour + 1) * HOUR_S];
  return {
    usage,
    ruleNo,
    startS,
    endS,
    used: stored(used),
    limit: stored('10'),
    next: stored('5'),
    openedAtMs: 7,
  };
}

describe('the current windows of a subject', () => {
  it('know where usage falls', () => {
    const windows = new CurrentWindows(usage);
    expect(windows.placeOf(sumAt(2, '1'))).toBe('newer');
    windows.open(windowAt(2, '1'));
    expect([1, 2, 3].map((hour) => windows.placeOf(sumAt(hour, '1')))).toEqual(['past', 'current', 'newer']);
  });

  it('give way to newer ones of their rule, and stay as they were', () => {
    const windows = new CurrentWindows(usage);
    expect(windows.open(windowAt(2, '1'))).toBeUndefined();
    expect(windows.open(windowAt(9, '4', 2))).toBeUndefined();
    windows.add(sumAt(2, '0.5'), 0n);
    expect(windows.open(windowAt(3, '2'))).toEqual(windowAt(2, '1.5'));
    expect(windows.lists.starts).toEqual([3 * HOUR_S, 9 * HOUR_S]);
    expect(windows.used).toEqual(['2.000000000000000000', '4.000000000000000000']);
  });

  it('report each percentage when usage passes it', () => {
    const windows = new CurrentWindows(usage);
    windows.open(windowAt(2, '1'));
    expect(windows.add(sumAt(2, '3.999999999999999999'), 0n)).toBeUndefined();
    expect(windows.add(sumAt(2, '0.000000000000000001'), 0n)).toMatchObject({
      used: stored('5'),
      reached: [50],
      recovered: [],
    });
    expect(windows.add(sumAt(2, '1'), 0n)).toBeUndefined();
    expect(windows.add(sumAt(2, '4'), 0n)).toMatchObject({ used: stored('10'), reached: [100] });
    expect(windows.add(sumAt(2, '90'), 0n)).toBeUndefined();
    expect(windows.add(sumAt(2, '-98'), 0n)).toMatchObject({ used: stored('2'), recovered: [50, 100] });
    expect(windows.lists.notices).toEqual([stored('5')]);
  });

  it('ask to be written as far as they have changed, and leave shared lists alone', () => {
    const { lists } = opened();
    const windows = new CurrentWindows(usage, lists, ['1', '2']);
    expect(windows.change).toBe('none');
    windows.add(sumAt(2, '1'), 0n);
    expect(windows.change).toBe('used');
    windows.add(sumAt(2, '5'), 0n);
    expect(windows.change).toBe('all');
    expect(lists.notices).toEqual([stored('5'), stored('5')]);
    windows.open(windowAt(3, '1'));
    expect(lists.starts).toEqual([2 * HOUR_S, 2 * HOUR_S]);
    expect(windows.lists.starts).toEqual([3 * HOUR_S, 2 * HOUR_S]);
  });
});

describe('a row of current windows that is damaged', () => {
  const { lists } = opened();

  it.each(['starts', 'ends', 'limits', 'notices', 'openedAtMs'] as const)('lacks one of its %s', (name) => {
    const short = { ...lists, [name]: lists[name].slice(1) };
    expect(() => new CurrentWindows(usage, short, ['1', '2'])).toThrow('has lists of 2 and of 1');
  });

  it('lacks what one of its windows has used', () => {
    expect(() => new CurrentWindows(usage, lists, ['1'])).toThrow('has lists of 2 and of 1');
  });

  it('adds to no window of a rule that it does not have', () => {
    const other = { ...sumAt(2, '1'), rule: compiledRule({ ruleNo: 9 }) };
    expect(() => new CurrentWindows(usage, lists, ['1', '2']).add(other, 0n)).toThrow('has no usage');
  });
});

function opened(): CurrentWindows {
  const windows = new CurrentWindows(usage);
  windows.open(windowAt(2, '1'));
  windows.open(windowAt(2, '2', 2));
  return windows;
}
