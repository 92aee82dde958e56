import type { LedgerWriter } from '../../src/revenue/ledger-writer.ts'
import type { WatchedAddress } from '../../src/revenue/watched-address.ts'
import type { BlockStore } from '../../storage/port.ts'

/** Slots before the end of a watch in which a fork may have removed blocks afterwards: one ends within 32 blocks. */
const FORK_SLOTS = 100
/** Slots before a block in which the index has another one: leaders skip a few slots in a row. */
const NEAR = 64

/**
 * Removes rows of a ledger that is resumed whose blocks a fork has removed while nobody watched the address: the follower
 * rolls back watched addresses only. Rows of blocks that are past the index's retention stay.
 */
export async function removeAbandoned(
  { address, history }: Pick<WatchedAddress, 'address' | 'history'>,
  writer: LedgerWriter,
  blocks: Pick<BlockStore, 'between'>
): Promise<void> {
  const end = history?.resumes?.endSlot
  if (end === undefined) return
  await writer.removeLost(address, async ({ slot, blockhash }) => {
    if (slot < end - FORK_SLOTS) return true
    const near = await blocks.between(Math.max(0, slot - NEAR), slot)
    if (near.length === 0) return true
    const row = near.find((each) => each.slot === slot)
    if (row === undefined) return false
    return blockhash === null || row.blockhash === null || row.blockhash === blockhash
  })
}
