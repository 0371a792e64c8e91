import type { Buffers } from '../../platform/buffers.js';
import { UsageBlock } from '../usage/index.js';
import type { EventGroup } from './event.js';
import type { ChangedProject } from './totals.js';

/** Rows of a batch that go to the same tables. */
export interface BatchSection {
  /** The number of the project whose own tables take the rows; null: the tables that projects share. */
  readonly dedicatedTo: number | null;
  readonly eventCount: number;
  readonly itemCount: number;
  readonly projects: readonly ChangedProject[];
  /** Encoded, in pieces that share memory with the block of the batch. */
  readonly rows: Buffers;
}

/** The rows of one project that has tables of its own. */
interface OwnRows {
  readonly projectId: string;
  readonly block: UsageBlock;
}

/** Which rows of a batch go where. */
export class BatchSections {
  /** By the number of the project. */
  readonly #own = new Map<number, OwnRows>();

  /** @param shared for the tables that projects share */
  constructor(private readonly shared: UsageBlock) {}

  /** Where the rows of a group belong. */
  blockOf({ storage, projectId, projectNo }: EventGroup): UsageBlock {
    if (storage === 'shared') return this.shared;
    let own = this.#own.get(projectNo);
    if (own === undefined) {
      own = { projectId, block: new UsageBlock() };
      this.#own.set(projectNo, own);
    }
    return own.block;
  }

  /** What the blocks hold; the shared one first, and none that is empty. */
  all(projects: readonly ChangedProject[]): BatchSection[] {
    const owners = new Set(Array.from(this.#own.values(), ({ projectId }) => projectId));
    const sharing = projects.filter(({ projectId }) => !owners.has(projectId));
    const sections = [sectionOf(null, this.shared, sharing)];
    for (const [projectNo, { projectId, block }] of this.#own) {
      const own = projects.filter((project) => project.projectId === projectId);
      sections.push(sectionOf(projectNo, block, own));
    }
    return sections.filter(({ eventCount }) => eventCount > 0);
  }
}

function sectionOf(
  dedicatedTo: number | null,
  block: UsageBlock,
  projects: readonly ChangedProject[],
): BatchSection {
  const { eventCount, itemCount } = block;
  return { dedicatedTo, eventCount, itemCount, projects, rows: block.bytes() };
}
