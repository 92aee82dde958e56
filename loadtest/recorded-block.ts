import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { ByteKeys } from '../test/chain/byte-keys.ts'
import { pubkeyToBase58 } from '../src/chain/pubkey.ts'
import { readRpcBlock } from '../src/chain/rpc/block.ts'
import type { Block, TokenBalance, Transaction } from '../src/chain/transaction.ts'
import { fixturesDirectory } from './fixtures.ts'

/** Slot of the recorded mainnet block. */
export const RECORDED_SLOT = 254170887

/** Mainnet's live rate in 2026: about 1,500 non-vote transactions a block, 2.5 blocks a second. */
export const LIVE = { transactionsPerBlock: 1500, blocksPerSecond: 2.5 } as const

/** Returns the recorded mainnet block as JSON text. */
export function recordedBlockText(): string {
  const path = join(fixturesDirectory(), `blocks/${RECORDED_SLOT}.json.gz`)
  return gunzipSync(readFileSync(path)).toString('utf8')
}

export function readBlock(value: unknown): Block {
  const outcome = readRpcBlock(value, RECORDED_SLOT)
  if (outcome.kind !== 'block') throw new Error(`the recorded block is ${outcome.kind}`)
  return { ...outcome.block, slot: RECORDED_SLOT, blockTime: outcome.block.blockTime! }
}

/** All fields of a transaction as plain data, with its keys as one byte string, before any lookup or decoding. */
export type PlainTransaction = Omit<Transaction, 'keys'> & {
  readonly keyBytes: Uint8Array
  /** Whether the message locks each key for writing. */
  readonly locks: readonly boolean[]
}

export function plainTransaction(transaction: Transaction): PlainTransaction {
  const { keys, instructions, preTokenBalances, postTokenBalances } = transaction
  return {
    signature: transaction.signature,
    index: transaction.index,
    version: transaction.version,
    failed: transaction.failed,
    signerCount: transaction.signerCount,
    feeLamports: transaction.feeLamports,
    nestingKnown: transaction.nestingKnown,
    logs: transaction.logs,
    preBalances: transaction.preBalances,
    postBalances: transaction.postBalances,
    instructions: instructions.map(({ program, accounts, data, height, outerIndex, innerIndex }) => ({
      program,
      accounts,
      data,
      height,
      outerIndex,
      innerIndex
    })),
    preTokenBalances: preTokenBalances.map(plainBalance),
    postTokenBalances: postTokenBalances.map(plainBalance),
    locks: Array.from({ length: keys.length }, (_, index) => keys.isWritable(index)),
    keyBytes: Buffer.concat(Array.from({ length: keys.length }, (_, index) => keys.bytes(index)))
  }
}

/** Returns a transaction as a binary source delivers it, without values cached by an earlier decode. */
export function binaryForm({ keyBytes, locks, ...plain }: PlainTransaction): Transaction {
  return { ...plain, keys: new LockedKeys(keyBytes, locks) }
}

/**
 * Repeats a block. Returns a function that makes the block of a place: under its own slot, without cached values, and some
 * seconds later, by default at the live rate.
 */
export function repeated(block: Block): (place: number, secondsLater?: number) => Block {
  const forms = block.transactions.map(plainTransaction)
  return (place, secondsLater = Math.floor(place / LIVE.blocksPerSecond)) => ({
    ...block,
    slot: block.slot + place,
    parentSlot: block.slot + place - 1,
    blockTime: block.blockTime + secondsLater,
    transactions: forms.map(binaryForm)
  })
}

class LockedKeys extends ByteKeys {
  readonly #locks: readonly boolean[]

  constructor(keys: Uint8Array, locks: readonly boolean[]) {
    super(keys)
    this.#locks = locks
  }

  override isWritable(index: number): boolean {
    return this.#locks[index]!
  }
}

/** Returns a balance with its texts, as all sources deliver it. */
function plainBalance({ account, mint, owner, amount, decimals }: TokenBalance): TokenBalance {
  const texts = {
    mintBase58: pubkeyToBase58(mint),
    ownerBase58: owner === null ? null : pubkeyToBase58(owner),
    amountText: String(amount)
  }
  return { account, mint, owner, amount, decimals, ...texts }
}
