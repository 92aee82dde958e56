import { writeFileSync } from 'node:fs'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { USDC, WSOL } from '../../src/market/cash.ts'
import { SeededRandom } from '../market/random.ts'

export const MINTS = 2_500
export const TRADES_PER_SLOT = 58
const TRADERS_PER_TRADE = 0.4
const FIRST_SLOT = 300_000_000
const FIRST_TIME = 1_730_000_000
const SLOTS_PER_SECOND = 2.5
const ROW_GROUP_ROWS = 50_000

/**
 * Writes a Parquet file of trades, with columns of our own. Each slot has trades of about fifty coins for SOL, and one of SOL
 * for dollars. A trader has two or three trades. Equal seeds give equal files.
 */
export function writeTradeRows(path: string, count: number, seed: number): void {
  const random = new SeededRandom(seed)
  const address = (): string => encodeBase58(random.bytes(32))
  const coins = Array.from({ length: MINTS }, () => ({
    mint: address(),
    pool: address(),
    lamports: 10 ** (6 + 3 * random.unit())
  }))
  const solPool = address()
  const traders = Array.from({ length: Math.ceil(count * TRADERS_PER_TRADE) }, address)
  const texts = (): string[] => Array.from({ length: count })
  const numbers = (): bigint[] => Array.from({ length: count })
  const [signature, venue, pool, trader] = [texts(), texts(), texts(), texts()]
  const [inMint, outMint, mint] = [texts(), texts(), texts()]
  const [slot, time, paid, received] = [numbers(), numbers(), numbers(), numbers()]
  const [decimals, txIndex, ixIndex] = [numbers(), numbers(), numbers()]
  for (let at = 0; at < count; at++) {
    const slotsBefore = Math.floor(at / TRADES_PER_SLOT)
    slot[at] = BigInt(FIRST_SLOT + slotsBefore)
    time[at] = BigInt(FIRST_TIME + Math.floor(slotsBefore / SLOTS_PER_SECOND))
    signature[at] = encodeBase58(random.bytes(64))
    trader[at] = random.pick(traders)
    txIndex[at] = BigInt((at % TRADES_PER_SLOT) * 20)
    ixIndex[at] = 2n
    if (at % TRADES_PER_SLOT === 0) {
      const lamports = 10 ** (8 + 2 * random.unit())
      venue[at] = 'orca-whirlpool'
      pool[at] = solPool
      ;[inMint[at], outMint[at], mint[at], decimals[at]] = [WSOL, USDC, WSOL, 9n]
      paid[at] = BigInt(Math.floor(lamports))
      received[at] = BigInt(Math.floor((lamports * 150 * (1 + random.normal() / 1_000)) / 1_000))
      continue
    }
    // The square makes few coins busy and most quiet.
    const coin = coins[Math.floor(MINTS * random.unit() ** 2)]!
    coin.lamports *= 1 + random.normal() / 100
    const tokens = Math.floor(10 ** (8 + 3 * random.unit()))
    const lamports = Math.max(1, Math.floor((tokens * coin.lamports) / 1_000_000))
    const isBuy = random.chance(0.5)
    venue[at] = 'pumpswap'
    pool[at] = coin.pool
    ;[inMint[at], outMint[at]] = isBuy ? [WSOL, coin.mint] : [coin.mint, WSOL]
    ;[paid[at], received[at]] = (isBuy ? [lamports, tokens] : [tokens, lamports]).map(BigInt) as [
      bigint,
      bigint
    ]
    ;[mint[at], decimals[at]] = [coin.mint, 6n]
  }
  const text = (name: string, data: string[]) => ({ name, type: 'STRING' as const, data })
  const whole = (name: string, data: bigint[]) => ({ name, type: 'INT64' as const, data })
  const columnData = [
    ...[whole('slot', slot), whole('block_time', time), text('signature', signature), text('venue', venue)],
    ...[text('pool', pool), text('trader', trader), text('in_mint', inMint), text('out_mint', outMint)],
    ...[whole('in_amount_raw', paid), whole('out_amount_raw', received), text('mint', mint)],
    ...[whole('decimals', decimals), whole('tx_index', txIndex), whole('ix_index', ixIndex)]
  ]
  writeFileSync(path, Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize: ROW_GROUP_ROWS })))
}
