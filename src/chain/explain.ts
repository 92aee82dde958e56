import { collectCalls } from './calls.ts'
import { Emitter, type Note } from './emitter.ts'
import type { ChainEvent } from './events.ts'
import type { Invocation } from './invocation.ts'
import { pubkeyToBase58 } from './pubkey.ts'
import type { Transaction } from './transaction.ts'
import type { VenueId } from './venue-id.ts'
import { VENUES_BY_PROGRAM } from './venues.ts'

/** A decoder's view of one venue call: the facts that it read, and the resulting events and notes. */
export interface CallExplanation {
  readonly ixIndex: number
  readonly innerIxIndex: number | null
  readonly venue: VenueId
  readonly program: string
  /** Name of the instruction; null if no layout knows its discriminator. */
  readonly instruction: string | null
  readonly discriminator: string
  readonly accounts: number
  /** Number of transfers, mints and burns of tokens and lamports that belong to the call. */
  readonly movements: number
  /** Names of the events that the program stated by self-call and in the log; null for an unknown event. */
  readonly stated: readonly (string | null)[]
  readonly logged: readonly (string | null)[]
  /** Whether the record has the call's log, and whether that log is complete. */
  readonly log: 'complete' | 'incomplete' | 'absent'
  readonly events: readonly Pick<ChainEvent, 'kind'>[]
  readonly notes: readonly Note[]
}

/**
 * Explains each venue call of a transaction in execution order, calls of unknown nesting last. Decodes a failed
 * transaction as if it had succeeded.
 */
export function explainTransaction(transaction: Transaction): CallExplanation[] {
  const { calls, unplaced } = collectCalls(transaction, VENUES_BY_PROGRAM)
  const explained = calls.map((call) => explainCall(call, (emit) => call.venue.decode(call, emit)))
  const dropped = unplaced.map((call) => explainCall(call, (emit) => emit.missing('nesting-unknown')))
  return [...explained, ...dropped]
}

function explainCall(call: Invocation, decode: (emit: Emitter) => void): CallExplanation {
  const { venue, instruction, log } = call
  const emitter = new Emitter()
  emitter.enter(call)
  decode(emitter)
  emitter.leave()
  const nameOf = (bytes: Uint8Array): string | null => venue.events.find(bytes)?.name ?? null
  return {
    ixIndex: instruction.outerIndex,
    innerIxIndex: instruction.innerIndex,
    venue: venue.id,
    program: pubkeyToBase58(call.program),
    instruction: call.layout?.name ?? null,
    discriminator: instruction.data.subarray(0, call.layout?.discriminator.length ?? 8).toHex(),
    accounts: call.accountCount,
    movements: call.movements.length,
    stated: call.stated.map(({ bytes }) => nameOf(bytes)),
    logged: [...(log?.data ?? []), ...(log?.rayLogs ?? [])].map(nameOf),
    log: log === null ? 'absent' : log.complete ? 'complete' : 'incomplete',
    events: emitter.events,
    notes: emitter.notes
  }
}
