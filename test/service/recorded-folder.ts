import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BLOCK_SLOT, fixtureBlock, fixtureTransactions } from '../fixtures.ts'

/** A recorded block as `{slot, block}`, with the needed fields of a getBlock result. */
export interface RecordedBlock {
  readonly slot: number
  readonly block: {
    readonly blockhash: string
    readonly blockTime: number
    readonly parentSlot: number
    readonly transactions: readonly unknown[]
  }
}

export const FIRST_SLOT = 500_000_000
/** 2026-08-24 12:00:00 UTC. */
const FIRST_TIME = Date.UTC(2026, 7, 24, 12) / 1000
const SECONDS_PER_BLOCK = 11

/**
 * Returns as many blocks as a test needs: recorded transactions of every venue, dealt out repeatedly under new slots and
 * times.
 */
export function recordedBlocks(count: number, perBlock = 8): RecordedBlock[] {
  const pool = [
    ...fixtureTransactions().map(({ result }) => resultOf(result)),
    ...fixtureBlock().transactions.filter((_, index) => index % 4 === 0)
  ]
  return Array.from({ length: count }, (_, i) => ({
    slot: FIRST_SLOT + i * 2,
    block: {
      blockhash: `${BLOCK_SLOT}`,
      blockTime: FIRST_TIME + i * SECONDS_PER_BLOCK,
      parentSlot: FIRST_SLOT + i * 2 - 2,
      transactions: Array.from({ length: perBlock }, (_, k) => pool[(i * perBlock + k) % pool.length])
    }
  }))
}

export function writeLines(directory: string, name: string, records: readonly unknown[]): void {
  writeFileSync(join(directory, name), records.map((record) => JSON.stringify(record) + '\n').join(''))
}

/** Returns an entry of a block: a getTransaction result without its place. */
function resultOf(result: unknown): unknown {
  const { transaction, meta, version } = (
    'result' in (result as object) ? (result as { result: unknown }).result : result
  ) as Record<string, unknown>
  return { transaction, meta, version }
}
