import { AGGREGATORS } from './aggregators.ts'
import { collectCalls } from './calls.ts'
import { Emitter, type Note } from './emitter.ts'
import type { ChainEvent, Trade } from './events.ts'
import { samePubkey, type Pubkey } from './pubkey.ts'
import type { Transaction } from './transaction.ts'
import { VENUES_BY_PROGRAM } from './venues.ts'

/** What a transaction did on the venues, in execution order, and what the decoder could not or would not read. */
export interface Decoded {
  readonly events: readonly ChainEvent[]
  readonly notes: readonly Note[]
}

const NOTHING: Decoded = { events: [], notes: [] }

/** Decodes one transaction. Pure; throws on no input. A failed transaction did nothing. */
export function decodeTransaction(transaction: Transaction): Decoded {
  if (transaction.failed) return NOTHING
  const { calls, unplaced } = collectCalls(transaction, VENUES_BY_PROGRAM)
  if (calls.length === 0 && unplaced.length === 0) return NOTHING
  const emitter = new Emitter()
  for (const call of calls) {
    emitter.enter(call)
    call.venue.decode(call, emitter)
    emitter.leave()
  }
  for (const call of unplaced) {
    emitter.enter(call)
    emitter.missing('nesting-unknown')
    emitter.leave()
  }
  return { events: labelRoutes(transaction, emitter.events), notes: emitter.notes }
}

/** Marks the fills of an outer instruction that routes: an aggregator's, or one with fills in several pools. */
function labelRoutes(transaction: Transaction, events: readonly ChainEvent[]): readonly ChainEvent[] {
  const hops = new Map<number, number>()
  const pools = new Map<number, Pubkey[]>()
  for (const event of events) {
    if (event.kind !== 'trade') continue
    hops.set(event.ixIndex, (hops.get(event.ixIndex) ?? 0) + 1)
    const seen = pools.get(event.ixIndex)
    if (seen === undefined) pools.set(event.ixIndex, [event.pool])
    else if (!seen.some((pool) => samePubkey(pool, event.pool))) seen.push(event.pool)
  }
  if (hops.size === 0) return events
  const outerPrograms = new Map<number, number>()
  for (const { innerIndex, outerIndex, program } of transaction.instructions) {
    if (innerIndex === null) outerPrograms.set(outerIndex, program)
  }
  const seen = new Map<number, number>()
  return events.map((event) => {
    if (event.kind !== 'trade') return event
    const program = outerPrograms.get(event.ixIndex)
    const count = hops.get(event.ixIndex)!
    if (program === undefined) return event
    const onePool = pools.get(event.ixIndex)!.length === 1
    if (onePool && transaction.keys.lookup(program, AGGREGATORS) === undefined) return event
    const hop = (seen.get(event.ixIndex) ?? 0) + 1
    seen.set(event.ixIndex, hop)
    const route = { program: transaction.keys.bytes(program), ixIndex: event.ixIndex, hop, hops: count }
    return { ...event, route } satisfies Trade
  })
}
