import { decodeTransactions } from '../../src/chain/decode-block.ts'
import { readRpcBlock } from '../../src/chain/rpc/block.ts'
import { readRpcTransaction } from '../../src/chain/rpc/transaction.ts'
import type { Transaction } from '../../src/chain/transaction.ts'
import type { DecodedBlock } from '../../src/market/block.ts'
import { BLOCK_SLOT, fixtureBlock, fixtureTransactions } from '../fixtures.ts'
import { NOON } from '../market/world.ts'

function block(slot: number, blockTime: number, transactions: readonly Transaction[]): DecodedBlock {
  const entries = transactions.flatMap((each, txIndex) =>
    decodeTransactions([each]).entries.map((entry) => ({ ...entry, txIndex }))
  )
  return {
    slot,
    blockTime,
    parentSlot: slot - 1,
    blockhash: null,
    receivedAtMs: blockTime * 1000 + 400,
    commitment: 'confirmed',
    transactions: transactions.length,
    entries
  }
}

interface Recorded {
  readonly slot: number
  readonly blockTime: number
  readonly transactions: readonly Transaction[]
}

/** Returns the recorded block, and the recorded single transactions grouped by slot, ascending by slot. */
function recordedSlots(): Recorded[] {
  const whole = recordedBlock()
  const singles = recordedSingles().flatMap(({ slot, blockTime, transaction }) =>
    slot === null || blockTime === null || slot === BLOCK_SLOT ? [] : [{ slot, blockTime, transaction }]
  )
  const slots = [...Map.groupBy(singles, ({ slot }) => slot)].map(([slot, group]) => ({
    slot,
    blockTime: group[0]!.blockTime,
    transactions: group.map(({ transaction }) => transaction)
  }))
  return [...slots, whole].sort((a, b) => a.slot - b.slot)
}

function recordedBlock(): Recorded {
  const outcome = readRpcBlock(fixtureBlock(), BLOCK_SLOT)
  if (outcome.kind !== 'block') throw new Error(outcome.kind)
  const { blockTime, transactions } = outcome.block
  return { slot: BLOCK_SLOT, blockTime: blockTime!, transactions }
}

function recordedSingles() {
  return fixtureTransactions().map(({ result }) => {
    const single = readRpcTransaction(result)
    if (single.kind !== 'transaction') throw new Error(single.kind)
    return single
  })
}

/** Returns the recorded transactions at their own slots and times. */
export function recordedChain(): DecodedBlock[] {
  return recordedSlots().map(({ slot, blockTime, transactions }) => block(slot, blockTime, transactions))
}

/**
 * Returns the recorded transactions, including those without a slot. They are dealt out twice over `hours` before noon in
 * slots of `perBlock`, so that every window has some.
 */
export function dealtChain(hours: number, perBlock: number): DecodedBlock[] {
  const dealt = [...recordedSingles().map(({ transaction }) => transaction), ...recordedBlock().transactions]
  const pool = [...dealt, ...dealt.toReversed()]
  const blocks = Math.ceil(pool.length / perBlock)
  return Array.from({ length: blocks }, (_, i) => {
    const secondsAgo = Math.round(((blocks - 1 - i) * hours * 3600) / blocks)
    return block(400_000_000 + i * 3, NOON - secondsAgo, pool.slice(i * perBlock, (i + 1) * perBlock))
  })
}
