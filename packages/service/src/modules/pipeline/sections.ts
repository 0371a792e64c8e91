import type { Buffers } from '../../platform/buffers.js';
import { UsageBlock } from '../usage/index.js';
import type { EventGroup } from './event.js';
import type { ChangedProject } from './totals.js';

/** Rows of a batch that go to the same tables. */
export interface BatchSection {
  /** The number of the project whose own tables take the rows; null for the shared tables. */
  readonly dedicatedTo: number | null;
  readonly eventCount: number;
  readonly itemCount: number;
  readonly projects: readonly ChangedProject[];
  /** Encoded, in pieces that share memory with the batch's block. */
  readonly rows: Buffers;
}

/** The rows of one project that has tables of its own. */
interface OwnRows {
  readonly projectId: string;
  readonly block: UsageBlock;
}

/** Sorts the rows of a batch by the tables they go to. */
export class BatchSections {
  readonly #shared: UsageBlock;
  /** By project number. */
  readonly #own = new Map<number, OwnRows>();

  /** @param shared for the shared tables */
  constructor(shared: UsageBlock) {
    this.#shared = shared;
  }

  /** Returns the block for the rows of a group. */
  blockOf({ storage, projectId, projectNo }: EventGroup): UsageBlock {
    if (storage === 'shared') return this.#shared;
    let own = this.#own.get(projectNo);
    if (own === undefined) {
      own = { projectId, block: new UsageBlock() };
      this.#own.set(projectNo, own);
    }
    return own.block;
  }

  /** Returns the contents of the blocks, the shared one first, without empty ones. */
  all(projects: readonly ChangedProject[]): BatchSection[] {
    const owners = new Set(Array.from(this.#own.values(), ({ projectId }) => projectId));
    const sharing = projects.filter(({ projectId }) => !owners.has(projectId));
    const sections = [sectionOf(null, this.#shared, sharing)];
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
