import { decodeTransaction } from '../../../src/chain/decode.ts'
import type { Note } from '../../../src/chain/emitter.ts'
import type { ChainEvent, Trade } from '../../../src/chain/events.ts'
import { readRpcTransaction } from '../../../src/chain/rpc/transaction.ts'
import type { Transaction } from '../../../src/chain/transaction.ts'
import { fixtureTransactions, type FixtureEntry } from '../../fixtures.ts'
import { RawRecord } from './raw-record.ts'

/** A recorded transaction, its decoded events, and the record as read without the decoder. */
export interface DecodedRecord {
  readonly entry: FixtureEntry
  readonly result: unknown
  readonly raw: RawRecord
  readonly transaction: Transaction
  readonly events: readonly ChainEvent[]
  readonly trades: readonly Trade[]
  readonly notes: readonly Note[]
}

export function readTransaction(result: unknown): Transaction {
  const outcome = readRpcTransaction(result)
  if (outcome.kind !== 'transaction') throw new Error(`no transaction: ${outcome.kind}`)
  return outcome.transaction
}

export function tradesOf(events: readonly ChainEvent[]): Trade[] {
  return events.filter((event) => event.kind === 'trade')
}

/** Every transaction of the catalogue. */
export function decodedRecords(): DecodedRecord[] {
  return fixtureTransactions().map(({ entry, result }) => {
    const transaction = readTransaction(result)
    const { events, notes } = decodeTransaction(transaction)
    const raw = new RawRecord(bareResult(result))
    return { entry, result, raw, transaction, events, notes, trades: tradesOf(events) }
  })
}

/** A result without the JSON-RPC response around it. */
export function bareResult(result: unknown): unknown {
  return (result as { result?: unknown }).result ?? result
}
