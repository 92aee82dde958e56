import type { SlotRow } from '../market/rows.ts'
import type { Storage } from '../../storage/port.ts'

/** A slot row of trades from files, which names neither a parent nor a hash. */
const isOfFiles = ({ parentSlot, blockhash }: SlotRow): boolean => parentSlot === null && blockhash === null

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
