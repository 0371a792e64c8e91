import { BacktestTable } from '../../../ui/backtest-table.js';
import { ReadFailure, Skeleton } from '../../../ui/states.js';
import { useBacktests } from './api.js';

/** All backtests of the project, of any rules and user. */
export function BacktestList({
  shownId,
  onShow,
}: {
  readonly shownId: string | undefined;
  readonly onShow: (id: string) => void;
}) {
  const backtests = useBacktests();
  return (
    <section aria-label="Backtests of this project">
      <h3 className="mb-2 text-[13px] font-semibold">Backtests of this project</h3>
      {backtests.isError && <ReadFailure of={backtests} />}
      {backtests.isPending && <Skeleton className="h-24" />}
      {backtests.data?.length === 0 && (
        <p className="text-[13px] text-ink-soft">
          No backtests in the last week. A backtest shows the effect of a change before you publish it.
        </p>
      )}
      {backtests.data !== undefined && backtests.data.length > 0 && (
        <BacktestTable backtests={backtests.data} {...{ shownId, onShow }} />
      )}
    </section>
  );
}
