import { decodeTransaction } from '../../../src/chain/decode.ts'
import { encodeBase58 } from '../../../src/chain/base58.ts'
import { readRpcBlock } from '../../../src/chain/rpc/block.ts'
import { readRpcTransaction } from '../../../src/chain/rpc/transaction.ts'
import type { Transaction } from '../../../src/chain/transaction.ts'
import { BLOCK_SLOT, fixtureBlock, fixtureTransactions } from '../../fixtures.ts'
import type { FactBlock } from './encoding.ts'
import { eventText } from './event-text.ts'
import { featuresOf } from './features.ts'
import { readableLines } from './log-lines.ts'

/** A recorded transaction that may be a fact, in the form that facts have. */
export interface Candidate {
  readonly signature: string
  /** As the record has it, with all that it logged. */
  readonly recorded: Transaction
  /** The transaction as a fact, as the only known transaction of its block. */
  readonly block: FactBlock
  readonly features: ReadonlySet<string>
}

/**
 * Returns the recorded transactions, single ones and those of the recorded block, without those in jsonParsed, which loses
 * bytes. Three of 2026 have no logs, and have their keys in another order than on chain. They stay because only they have
 * the newest Pump instructions.
 */
export function candidates(): Candidate[] {
  const alone = fixtureTransactions().flatMap(({ entry, result }) => {
    const outcome = readRpcTransaction(result)
    if (outcome.kind !== 'transaction') throw new Error(`${entry.signature}: ${outcome.kind}`)
    const { transaction, slot, blockTime, parsed } = outcome
    if (parsed) return []
    return [candidate(transaction, loadedKeysOf(result), { slot, blockTime, parentSlot: null, votes: 0 })]
  })
  const json = fixtureBlock()
  const outcome = readRpcBlock(json, BLOCK_SLOT)
  if (outcome.kind !== 'block') throw new Error(outcome.kind)
  const { slot, blockTime, parentSlot, votes, transactions } = outcome.block
  const together = transactions.map((transaction) =>
    candidate(transaction, loadedKeysOf(json.transactions[transaction.index!]), {
      slot,
      blockTime,
      parentSlot,
      votes
    })
  )
  const ofBlock = new Set(together.map(({ signature }) => signature))
  return [...alone.filter(({ signature }) => !ofBlock.has(signature)), ...together]
}

function candidate(recorded: Transaction, loadedKeys: number, block: Omit<FactBlock, 'facts'>): Candidate {
  const transaction = factOf(recorded)
  const { events } = decodeTransaction(transaction)
  const expected = eventText(events, transaction.keys)
  return {
    signature: encodeBase58(recorded.signature),
    recorded,
    block: { ...block, facts: [{ transaction, loadedKeys, expected }] },
    features: featuresOf(transaction, loadedKeys)
  }
}

/** Returns a transaction with only the log lines that the decoder reads. */
function factOf(recorded: Transaction): Transaction {
  const { signature, index, version, failed, keys, signerCount, feeLamports, instructions } = recorded
  const { nestingKnown, preTokenBalances, postTokenBalances, preBalances, postBalances } = recorded
  return {
    signature,
    index,
    version,
    failed,
    keys,
    signerCount,
    feeLamports,
    instructions,
    nestingKnown,
    logs: readableLines(recorded.logs),
    preTokenBalances,
    postTokenBalances,
    preBalances,
    postBalances
  }
}

interface RecordedMeta {
  readonly loadedAddresses?: { readonly writable: unknown[]; readonly readonly: unknown[] } | null
}

function loadedKeysOf(result: unknown): number {
  const { loadedAddresses: loaded } = (result as { meta: RecordedMeta }).meta
  return loaded ? loaded.writable.length + loaded.readonly.length : 0
}
