import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { decodeTransactions } from '../src/chain/decode-block.ts'
import { pubkeyMapKey } from '../src/chain/pubkey.ts'
import type { Pubkey } from '../src/chain/pubkey.ts'
import type { Block, TokenBalance, Transaction } from '../src/chain/transaction.ts'
import { CashList } from '../src/market/cash.ts'
import type { Population } from './market/population.ts'
import { SeededRandom } from './market/random.ts'
import {
  binaryForm,
  LIVE,
  plainTransaction,
  readBlock,
  recordedBlockText,
  type PlainTransaction
} from './recorded-block.ts'

/** Variants of the recorded block that are prepared at the start; each takes about a megabyte. */
const CASTINGS = 16
/** Transactions that are built before the event loop gets a turn. */
const PER_TURN = 200

type Recast = (key: Pubkey) => Pubkey

/**
 * The recorded mainnet block as blocks of a synthetic market at mainnet's live rate. Its mints and wallets are replaced by
 * the market's own, drawn with the market's distribution. Ingest so does its whole work and changes the data that readers
 * request.
 */
export class LiveBlocks {
  readonly #castings: readonly (readonly PlainTransaction[])[]

  constructor(population: Population) {
    const recorded = readBlock(JSON.parse(recordedBlockText())).transactions.map(plainTransaction)
    const expected = decodeTransactions(recorded.map(binaryForm)).entries.length
    this.#castings = Array.from({ length: CASTINGS }, (_, number) => {
      const cast = castingOf(recorded, population, new SeededRandom(population.size.seed, 20, number))
      const casting = recorded.map((transaction) => castTransaction(transaction, cast))
      const found = decodeTransactions(casting.map(binaryForm)).entries.length
      if (found !== expected) throw new Error(`a casting has ${found} events instead of ${expected}`)
      return casting
    })
  }

  /**
   * Returns the n-th block, with as many transactions as a live block, each with its own signature. Yields to the event
   * loop while building, as a source that reads transactions when they arrive would.
   */
  async at(n: number, slot: number, blockTime: number): Promise<Block> {
    const transactions: Transaction[] = []
    let copy = n * Math.ceil(LIVE.transactionsPerBlock / this.#castings[0]!.length)
    while (transactions.length < LIVE.transactionsPerBlock) {
      const casting = this.#castings[copy++ % CASTINGS]!
      for (const plain of casting.slice(0, LIVE.transactionsPerBlock - transactions.length)) {
        const index = transactions.length
        if (index % PER_TURN === 0) await yieldToEventLoop()
        transactions.push({ ...binaryForm(plain), index, signature: signatureOf(plain, slot, index) })
      }
    }
    return { slot, parentSlot: slot - 1, blockTime, transactions, votes: 0 }
  }
}

/**
 * Returns the replacement of each recorded key: mints by mints of equal decimals, wallets by wallets, pools by new
 * pools.
 */
function castingOf(
  recorded: readonly PlainTransaction[],
  population: Population,
  random: SeededRandom
): Map<string, Pubkey> {
  const cash = new CashList()
  const cast = new Map<string, Pubkey>()
  const replace = (key: Pubkey, by: () => Pubkey): void => {
    const name = pubkeyMapKey(key)
    if (!cast.has(name)) cast.set(name, by())
  }
  for (const { event } of decodeTransactions(recorded.map(binaryForm)).entries) {
    if (event.kind !== 'trade') continue
    for (const [mint, decimals] of [
      [event.inMint, event.inDecimals],
      [event.outMint, event.outDecimals]
    ] as const) {
      if (cash.of(mint) === undefined && (decimals === 6 || decimals === 9)) {
        replace(mint, () => population.mint(drawWithDecimals(population, decimals, random)))
      }
    }
    replace(event.user, () => population.drawWallet(random))
    replace(event.pool, () => random.bytes(32))
  }
  return cast
}

function drawWithDecimals(population: Population, decimals: number, random: SeededRandom): number {
  for (;;) {
    const mint = population.drawStanding(random)
    if (population.decimals(mint) === decimals) return mint
  }
}

function castTransaction(plain: PlainTransaction, cast: ReadonlyMap<string, Pubkey>): PlainTransaction {
  const recast: Recast = (key) => cast.get(pubkeyMapKey(key)) ?? key
  const keyBytes = Buffer.from(plain.keyBytes)
  for (let at = 0; at < keyBytes.length; at += 32) keyBytes.set(recast(keyBytes.subarray(at, at + 32)), at)
  const castBalance = (balance: TokenBalance): TokenBalance => ({
    ...balance,
    mint: recast(balance.mint),
    owner: balance.owner === null ? null : recast(balance.owner)
  })
  return {
    ...plain,
    keyBytes,
    instructions: plain.instructions.map((instruction) => ({
      ...instruction,
      data: castBytes(instruction.data, recast)
    })),
    logs: plain.logs?.map((line) => castLog(line, recast)) ?? null,
    preTokenBalances: plain.preTokenBalances.map(castBalance),
    postTokenBalances: plain.postTokenBalances.map(castBalance)
  }
}

const LOGGED_BYTES = 'Program data: '

function castLog(line: string, recast: Recast): string {
  if (!line.startsWith(LOGGED_BYTES)) return line
  const parts = line.slice(LOGGED_BYTES.length).split(' ')
  const casted = parts.map((part) =>
    Buffer.from(castBytes(Buffer.from(part, 'base64'), recast)).toString('base64')
  )
  return LOGGED_BYTES + casted.join(' ')
}

/** Replaces every 32-byte key within other bytes. */
function castBytes(data: Uint8Array, recast: Recast): Uint8Array {
  let casted = data
  for (let at = 0; at + 32 <= data.length; at++) {
    const key = data.subarray(at, at + 32)
    const replacement = recast(key)
    if (replacement === key) continue
    if (casted === data) casted = new Uint8Array(data)
    casted.set(replacement, at)
    at += 31
  }
  return casted
}

function signatureOf(plain: PlainTransaction, slot: number, index: number): Uint8Array {
  const signature = new Uint8Array(plain.signature)
  new DataView(signature.buffer).setUint32(0, slot)
  new DataView(signature.buffer).setUint32(4, index)
  return signature
}
