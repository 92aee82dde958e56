import type { SlotRow } from '../market/rows.ts'
import type { Storage } from '../../storage/port.ts'

/** Returns whether a slot has trades of files: such a slot names neither a parent nor a hash. */
export const isOfFiles = ({ parentSlot, blockhash }: Pick<SlotRow, 'parentSlot' | 'blockhash'>): boolean =>
  parentSlot === null && blockhash === null

/** Returns what an archive knows of the chain: its whole blocks. Slots and times of files prove nothing. */
export function wholeBlocks({ blocks, coverage }: Pick<Storage, 'blocks' | 'coverage'>) {
  const whole = (row: SlotRow | null): SlotRow | null => (row === null || isOfFiles(row) ? null : row)
  return {
    coverage,
    blocks: {
      head: async () => whole(await blocks.head()),
      at: async (slot: number) => whole(await blocks.at(slot)),
      firstSince: (blockTime: number) => blocks.firstSince(blockTime)
    }
  }
}
