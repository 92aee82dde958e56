import type { Pubkey } from '../../chain/pubkey.ts'
import { unchanged } from '../../market/amendment.ts'
import type { Storage } from '../../../storage/port.ts'
import { candleDifferences } from './candle-check.ts'

/**
 * Folds the candles of mints again from their stored trades, and stores those that differ. A candle with trades past
 * the retention is not changed. Returns the number of stored candles.
 */
export async function foldCandlesAgain(storage: Storage, mints: readonly Pubkey[]): Promise<number> {
  const [head, totals] = await Promise.all([storage.blocks.head(), storage.totals.get()])
  let changed = 0
  for (const mint of mints) {
    const differences = await Array.fromAsync(candleDifferences(storage, mint, { rows: 0, candles: 0 }))
    if (differences.length === 0) continue
    const candles = {
      put: differences.flatMap(({ of: { mint, cash, interval }, computed }) =>
        computed === null ? [] : [{ mint, cash, interval, candle: computed }]
      ),
      remove: differences.filter(({ computed }) => computed === null).map(({ of }) => of)
    }
    await storage.history.amend({ ...unchanged(head, { totals }), candles }, { put: [], remove: [] })
    changed += differences.length
  }
  return changed
}
