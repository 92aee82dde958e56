import { AGGREGATORS } from './aggregators.ts'
import { collectCalls } from './calls.ts'
import { Emitter, type Note } from './emitter.ts'
import type { ChainEvent, RouteLeg, Trade } from './events.ts'
import { samePubkey, type Pubkey } from './pubkey.ts'
import type { TokenAccounts } from './token-accounts.ts'
import type { Transaction } from './transaction.ts'
import type { TransferFeeLookup } from './transfer-fee.ts'
import { notesOfUnseenCalls } from './unseen-calls.ts'
import { VENUES_BY_PROGRAM } from './venues.ts'

/** The events of a transaction on the venues, in execution order, and notes on sections that could not be read. */
export interface Decoded {
  readonly events: readonly ChainEvent[]
  readonly notes: readonly Note[]
  /**
   * Token-2022 mints whose unknown transfer fee withholds an event or leaves an amount missing; absent if no fee is
   * missing.
   */
  readonly openFees?: readonly Pubkey[]
  /** Whether transfer fees were used; absent if they were not. */
  readonly usesFees?: true
}

const NOTHING: Decoded = { events: [], notes: [] }

/**
 * Decodes one transaction. Pure; throws on no input (INVARIANTS 9). A failed transaction has no events. Transfer fees
 * by `feeOf` are used only if the transaction leaves one open. So the events that decode without `feeOf` never depend
 * on it. Unrecorded inner instructions mean no events: transfers and calls below the outer instructions are unseen.
 */
export function decodeTransaction(transaction: Transaction, feeOf: TransferFeeLookup | null = null): Decoded {
  if (transaction.failed) return NOTHING
  if (transaction.unstated?.includes('inner-instructions') === true)
    return { events: [], notes: notesOfUnseenCalls(transaction) }
  const decoded = decodeWith(transaction, null)
  if (decoded.openFees === undefined || feeOf === null) return decoded
  return { ...decodeWith(transaction, feeOf), usesFees: true }
}

function decodeWith(transaction: Transaction, feeOf: TransferFeeLookup | null): Decoded {
  const { tokens, calls, unplaced } = collectCalls(transaction, VENUES_BY_PROGRAM, feeOf)
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
  const { events, notes } = emitter
  const lacksFee =
    notes.some((note) => note.kind === 'missing' && note.reason === 'transfer-fee-unknown') ||
    events.some(
      (each) => each.kind === 'liquidity' && (each.traderBase === null || each.traderQuote === null)
    )
  const labelled = { events: labelRoutes(transaction, nameRouteTraders(tokens, events)), notes }
  const openFees = lacksFee ? (tokens?.openFees ?? []) : []
  return openFees.length === 0 ? labelled : { ...labelled, openFees }
}

/**
 * Names the trader of a route's intermediate fills. They exchange mints that the trader does not hold before or after, in
 * accounts of the routing program. So a fill without a signing trader gets the trader of a fill of its outer instruction
 * with which it shares a mint.
 */
function nameRouteTraders(
  tokens: TokenAccounts | null,
  events: readonly ChainEvent[]
): readonly ChainEvent[] {
  const isOpen = (event: ChainEvent): event is Trade =>
    event.kind === 'trade' && event.innerIxIndex !== null && !tokens!.isSigner(event.user)
  if (events.length < 2 || !events.some(isOpen)) return events
  const named = [...events]
  for (let isNew = true; isNew;) {
    isNew = false
    for (const [place, event] of named.entries()) {
      if (!isOpen(event)) continue
      const beside = named.find(
        (other): other is Trade =>
          other.kind === 'trade' &&
          other.ixIndex === event.ixIndex &&
          !isOpen(other) &&
          sharesMint(other, event)
      )
      if (beside === undefined) continue
      named[place] = { ...event, user: beside.user }
      isNew = true
    }
  }
  return named
}

function sharesMint(one: Trade, other: Trade): boolean {
  const mints = [other.inMint, other.outMint]
  return mints.some((mint) => samePubkey(mint, one.inMint) || samePubkey(mint, one.outMint))
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
