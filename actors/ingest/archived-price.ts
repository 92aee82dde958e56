import { solUsdAfter, type SolUsd } from '../../src/market/sol-usd.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import type { Storage } from '../../storage/port.ts'
import { restoreMarket } from './market-loader.ts'

/** The first block of a store. */
export interface FirstBlock {
  readonly slot: number
  readonly blockTime: number
}

/**
 * Returns a function that reads the SOL price which an archive leaves for the first block of the live store. The price is
 * null if there is no archive before that block, or if its newest price is more than 60 minutes old. It is also null, with a
 * warning, if the archive cannot be read: ingest does not wait for it.
 */
export function archivedPrice(
  open: () => Promise<Storage | null>,
  logger: Pick<Logger, 'info' | 'warn'>
): (first: FirstBlock) => Promise<SolUsd | null> {
  return async ({ slot, blockTime }) => {
    try {
      const archive = await open()
      if (archive === null) return null
      try {
        const [damage] = archive.damage
        if (damage !== undefined) throw new Error(damage)
        const head = await archive.blocks.head()
        if (head === null || head.slot >= slot) return null
        const { solUsd } = await restoreMarket(archive, head)
        const before = solUsdAfter(solUsd, blockTime)
        if (before !== null)
          logger.info(
            { usd: before.price!.usd, slot: head.slot },
            "ingest begins with the archive's SOL price"
          )
        return before
      } finally {
        await archive.close()
      }
    } catch (error) {
      logger.warn(
        { err: error },
        'the archive cannot be read: ingest begins without its SOL price, so USD values are null until a trade prices SOL'
      )
      return null
    }
  }
}
