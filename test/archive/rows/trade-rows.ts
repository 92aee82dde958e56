import { join } from 'node:path'
import { configIn, recordsOf } from '../recorded-market.ts'
import { storeDirectory, archiveConfigOf } from '../../../src/store/opening.ts'
import { runCommand, type Said } from '../../cli/run-command.ts'
import { addressOf, ownRow, PUMP_MINT, signatureOf, USDC, WSOL, type SampleRow } from './sample-rows.ts'

export const FIRST_SLOT = 254_170_887
export const FIRST_TIME = 1_710_000_000

/**
 * Returns trades of three pools, two a slot, from the first slot on. Their prices move, one is an outlier, and some price
 * SOL. Two slots a second.
 */
export function tradeRows(count: number): SampleRow[] {
  return Array.from({ length: count }, (_, number) => {
    const slot = FIRST_SLOT + Math.floor(number / 2)
    const place = { slot, block_time: FIRST_TIME + Math.floor(number / 4), tx_index: number % 2, ix_index: 2 }
    const trader = addressOf(40 + (number % 7))
    const signature = signatureOf(number + 1)
    if (number % 5 === 0)
      return ownRow(number % 200, {
        ...{ ...place, signature, trader, venue: 'orca-whirlpool', program: null, pool: addressOf(30) },
        ...{ in_mint: WSOL, out_mint: USDC, mint: WSOL, decimals: 9 },
        ...{ in_amount_raw: 1_000_000_000n, out_amount_raw: BigInt(150_000_000 + number * 10_000) }
      })
    const isBuy = number % 3 !== 0
    const factor = number % 41 === 40 ? 500n : 1n
    const [sol, tokens] = [BigInt(1_000_000 + number * 3_000) * factor, 1_000_000_000n + BigInt(number)]
    return ownRow(number % 200, {
      ...{ ...place, signature, trader, venue: 'pumpswap', program: null, pool: addressOf(31) },
      ...{ in_mint: isBuy ? WSOL : PUMP_MINT, out_mint: isBuy ? PUMP_MINT : WSOL },
      ...{ in_amount_raw: isBuy ? sol : tokens, out_amount_raw: isBuy ? tokens : sol },
      ...{ mint: PUMP_MINT, decimals: 6 }
    })
  })
}

/** Imports paths into the archive of a data folder. */
export const importing = (dataDir: string, ...words: readonly string[]): Promise<Said> =>
  runCommand(['archive', 'import', ...words, '--data-dir', dataDir])

/** Returns the records of the archive of a data folder, without documents. */
export const archived = (dataDir: string): Promise<Record<string, string>> =>
  recordsOf(storeDirectory(archiveConfigOf(configIn(dataDir))))

/** Returns the path of a file in a test's folder. */
export const fileIn = (directory: string, name: string): string => join(directory, name)
