import { type Chart, isOfTotals } from '@tollgate/contract';
import { Copy, Ellipsis, FileDown, ImageDown, Pencil, Table2, Trash2 } from 'lucide-react';
import { type RefObject, useState } from 'react';
import { decimalSignificant } from '../../format.js';
import { useProjectClient } from '../../project.js';
import { useTheme } from '../../theme.js';
import { IconButton } from '../../ui/button.js';
import { Menu, type MenuItem } from '../../ui/menu.js';
import { messageOf } from '../../ui/states.js';
import { chartCsv } from './api.js';
import { pictureOf } from './chart-picture.js';
import { fileName, saveFile } from './downloads.js';
import { colored } from './palette.js';
import type { SeriesSet } from './series.js';
import { rangeLabel, type TimeRange } from './time-range.js';

/** The actions on a chart. */
export type ChartAction = 'edit-chart' | 'duplicate-chart' | 'delete-chart';

export interface ChartMenuProps {
  readonly chart: Chart;
  readonly timezone: string;
  readonly range: TimeRange;
  /** The length of the buckets, as text. */
  readonly note: string;
  readonly set: SeriesSet | undefined;
  /** The element with the chart. */
  readonly card: RefObject<HTMLElement | null>;
  readonly isTable: boolean;
  readonly onTable: () => void;
  readonly onDo: ((action: ChartAction) => void) | undefined;
}

const ICON_PX = 14;

export function ChartMenu({
  chart,
  timezone,
  range,
  note,
  set,
  card,
  isTable,
  onTable,
  onDo,
}: ChartMenuProps) {
  const project = useProjectClient();
  const theme = useTheme();
  const [problem, setProblem] = useState<string>();
  const save = async (extension: string, make: () => Promise<Blob>) => {
    try {
      saveFile(await make(), fileName(chart.title, extension));
      setProblem(undefined);
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  const picture = () => {
    const plot = card.current?.querySelector('canvas');
    if (plot == null || set === undefined) throw new Error('There is no chart to export.');
    const legend = colored(set.series, theme).map(({ label, total, unit, color }) => ({
      ...{ label, color },
      value: total === undefined ? '' : `${decimalSignificant(total)} ${unit}`.trim(),
    }));
    return pictureOf({ title: chart.title, note: `${rangeLabel(range, timezone)} · ${note}`, plot, legend });
  };
  const csv: MenuItem = {
    label: 'Download CSV',
    icon: <FileDown size={ICON_PX} />,
    onSelect: () => void save('csv', () => chartCsv(project, chart.query, timezone, range)),
  };
  const ofPlot: MenuItem[] = [
    {
      label: isTable ? 'View as chart' : 'View as table',
      icon: <Table2 size={ICON_PX} />,
      onSelect: onTable,
    },
    csv,
    {
      label: 'Download PNG',
      icon: <ImageDown size={ICON_PX} />,
      isDisabled: isTable || set === undefined || set.series.length === 0,
      onSelect: () => void save('png', async () => picture()),
    },
  ];
  const reading = isOfTotals(chart.chart_type) ? [csv] : ofPlot;
  return (
    <>
      {problem !== undefined && (
        <span role="alert" className="truncate text-xs text-bad" title={problem}>
          {problem}
        </span>
      )}
      <Menu
        trigger={
          <IconButton label={`Actions for ${chart.title}`}>
            <Ellipsis size={16} />
          </IconButton>
        }
        items={onDo === undefined ? reading : [...reading, ...changing(onDo)]}
      />
    </>
  );
}

function changing(onDo: (action: ChartAction) => void): MenuItem[] {
  return [
    { label: 'Edit', icon: <Pencil size={ICON_PX} />, onSelect: () => onDo('edit-chart') },
    { label: 'Duplicate', icon: <Copy size={ICON_PX} />, onSelect: () => onDo('duplicate-chart') },
    {
      label: 'Delete',
      icon: <Trash2 size={ICON_PX} />,
      isDangerous: true,
      onSelect: () => onDo('delete-chart'),
    },
  ];
}
