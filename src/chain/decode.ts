import { AGGREGATORS } from './aggregators.ts'
import { collectCalls } from './calls.ts'
import { Emitter, type Note } from './emitter.ts'
import type { ChainEvent, RouteLeg, Trade } from './events.ts'
import { samePubkey } from './pubkey.ts'
import type { Transaction } from './transaction.ts'
import { VENUES_BY_PROGRAM } from './venues.ts'

/** The events of a transaction on the venues, in execution order, and notes on what could not be read. */
export interface Decoded {
  readonly events: readonly ChainEvent[]
  readonly notes: readonly Note[]
}

const NOTHING: Decoded = { events: [], notes: [] }

/** Decodes one transaction. Pure; throws on no input (INVARIANTS 9). A failed transaction has no events. */
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

/** Labels the fills of an outer instruction that routes: an aggregator's, or one with fills in several pools. */
function labelRoutes(transaction: Transaction, events: readonly ChainEvent[]): readonly ChainEvent[] {
  const { instructions, keys } = transaction
  const fills = events.filter((event) => event.kind === 'trade')
  if (fills.length === 0) return events
  const legs = new Map<Trade, RouteLeg>()
  for (const [outerIndex, own] of Map.groupBy(fills, ({ ixIndex }) => ixIndex)) {
    const outer = instructions.find((each) => each.innerIndex === null && each.outerIndex === outerIndex)
    if (outer === undefined) continue
    const { program } = outer
    const onePool = own.every(({ pool }) => samePubkey(pool, own[0]!.pool))
    if (onePool && keys.lookup(program, AGGREGATORS) === undefined) continue
    const route = { program: keys.bytes(program), ixIndex: outerIndex, hops: own.length }
    for (const [place, fill] of own.entries()) legs.set(fill, { ...route, hop: place + 1 })
  }
  if (legs.size === 0) return events
  return events.map((event) => {
    const route = event.kind === 'trade' ? legs.get(event) : undefined
    return route === undefined ? event : ({ ...event, route } as Trade)
  })
}
