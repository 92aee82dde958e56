import type { Amendment, Edit } from '../../src/market/amendment.ts'
import type { GapRow, History } from '../port.ts'
import type { ScyllaBase } from './base.ts'
import type { TableCommit } from './commit.ts'
import { amendedKeptRows } from './kept-blocks.ts'
import type { KeptBlocks } from './kept-blocks.ts'
import type { BlockWriter } from './writer.ts'

/** Adds the table changes of an amendment and its gaps to a commit. */
export type StageAmendment = (
  commit: TableCommit,
  amendment: Amendment,
  gaps: Edit<GapRow, number>
) => Promise<void>

export function historyOf(
  writer: BlockWriter,
  kept: KeptBlocks,
  { visibility }: Pick<ScyllaBase, 'visibility'>,
  stage: StageAmendment
): History {
  return {
    after: (slot, limit) => kept.after(slot, limit),
    forget: (until) => writer.forget(kept, until),
    amend: (amendment, gaps) =>
      writer.amend({
        head: amendment.head,
        removesSlots: amendment.slots.remove.length > 0,
        stage: (commit) => stage(commit, amendment, gaps),
        historyRows: (version) => amendedKeptRows(version, amendment.kept)
      }),
    amendments: async () => visibility.amended
  }
}
