import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { USDC, WSOL } from '../../src/market/cash.ts'
import { SOL_SHARE, type Population } from '../market/population.ts'
import { SeededRandom } from '../market/random.ts'

const TRADES_PER_SLOT = 58
/** Rows of one file, of whole slots: the fold of the next one continues after it. */
export const FILE_ROWS = 20_000 * TRADES_PER_SLOT
const SLOTS_PER_SECOND = 2.5
/** The first slot and time of the archive, long before those of a market. */
const FIRST_SLOT = 300_000_000
const FIRST_TIME = Date.UTC(2025, 0, 1) / 1_000

const poolOf = (mint: Uint8Array): string => encodeBase58(mint.map((byte) => byte ^ 255))

/** Yields the lines of a file, before which others have `from` rows. */
function* csv(population: Population, from: number): Generator<string> {
  const random = new SeededRandom(36, from)
  yield 'slot,block_time,signature,venue,pool,trader,in_mint,out_mint,in_amount_raw,out_amount_raw,mint,decimals,tx_index,ix_index\n'
  for (let at = from; at < from + FILE_ROWS; at++) {
    const slot = Math.floor(at / TRADES_PER_SLOT)
    // The square makes few mints busy and most quiet.
    const index = random.chance(SOL_SHARE)
      ? 0
      : 1 + Math.floor((population.size.mints - 1) * random.unit() ** 2)
    const [mint, cash] = [
      index === 0 ? WSOL : pubkeyToBase58(population.mint(index)),
      index === 0 ? USDC : WSOL
    ]
    const amounts = [1_000_000_000 + random.below(1_000_000), index === 0 ? 150_000_000 : 20_000_000]
    const isBuy = random.chance(0.5)
    const way = <T>([one, other]: readonly T[]): T[] => (isBuy ? [other!, one!] : [one!, other!])
    yield (
      [
        ...[FIRST_SLOT + slot, FIRST_TIME + Math.floor(slot / SLOTS_PER_SECOND)],
        ...[encodeBase58(random.bytes(64)), 'pumpswap', poolOf(population.mint(index))],
        pubkeyToBase58(population.drawWallet(random)),
        ...[...way([mint, cash]), ...way(amounts), mint, population.decimals(index), at % TRADES_PER_SLOT, 2]
      ].join(',') + '\n'
    )
  }
}

/** Writes a CSV file of trades of a market's mints and wallets. Earlier files have `from` rows; equal ones give equal files. */
export async function writeMarketRows(path: string, population: Population, from: number): Promise<void> {
  await pipeline(Readable.from(csv(population, from)), createWriteStream(path))
}
