import { assign, setup } from 'xstate'
import {
  landingAfter,
  NOWHERE,
  UNKNOWN_ERROR,
  upheldLanding,
  type BlockSeen,
  type Landing,
  type LandingUpheld,
  type StatusSeen
} from './landing.ts'

/**
 * The life of one submitted transaction.
 *
 * T1. The loop sends in `sent`, and in `processed` without an error. In every other state it is idle.
 * T2. A lower commitment of the known block is ignored. Another block is accepted at the same commitment or above: the
 *     transaction has landed elsewhere, on another fork. At a lower commitment it is a stale answer.
 * T3. A block shows that a transaction failed; a status also gives the error. Between the two it is `failing`: not sent, and
 *     not shown.
 * T4. A fork that drops its block returns it to `sent`, unless the block was finalized.
 * T5. It expires only while no block has it.
 * T6. A landing is stated by a block that was read, by two nodes, or by one node. The word of one node is a claim. It is
 *     finalized only once later answers have borne it out (`BORNE_OUT`), and can be taken back until a minute of answers has
 *     confirmed it (`CLAIMED_MS`). Until then its state is `claimed`, which is shown as final.
 *     The block of its slot, if a node gives it, ends the claim at once.
 * T7. A contrary answer restarts the time of a claim.
 * T8. If its end cannot be known, it is followed only for a limited time. It is then `unresolved`, with the facts known so
 *     far.
 */
export interface TransactionContext extends Landing {
  /** Sends that a node or a leader accepted, including the first one. */
  readonly sends: number
  /** Leaders that it was written to, over all sends. */
  readonly leadersSent: number
  /** Unix milliseconds; null before the first send. */
  readonly firstSentAtMs: number | null
  readonly lastSentAtMs: number | null
  /** Slot of the newest known block at the first send; null if no block was known. */
  readonly firstSentSlot: number | null
}

/** A send that a node or a leader accepted. */
export interface SendMade {
  readonly type: 'send.made'
  readonly atMs: number
  readonly slot: number | null
  readonly leaders: number
}

export type TransactionEvent =
  | SendMade
  | BlockSeen
  | StatusSeen
  | LandingUpheld
  /** Blocks above a slot were on a fork that the chain has left. */
  | { readonly type: 'fork.lost'; readonly afterSlot: number }
  /** A node does not know the landing, or states a different one. */
  | { readonly type: 'landing.doubted' }
  /** No block has the transaction, and no further block can have it. */
  | { readonly type: 'lifetime.ended' }
  /** Its end is unknown, but it is no longer followed. */
  | { readonly type: 'following.ended' }
  /** The progress that an earlier process stored. */
  | { readonly type: 'progress.restored'; readonly context: TransactionContext }

/** Returns the state that a landing stands for. */
function stateOf({ commitment, err, evidence }: Landing): TransactionMachineState {
  if (err === UNKNOWN_ERROR) return 'failing'
  if (commitment === null) return 'sent'
  if (commitment === 'finalized' && evidence === 'claim') return 'claimed'
  return commitment === 'finalized' && err !== null ? 'failed' : commitment
}

/** Returns the state after an event; null if the event changes nothing. */
function stateAfter(context: TransactionContext, event: TransactionEvent): TransactionMachineState | null {
  if (event.type === 'progress.restored') return stateOf(event.context)
  if (event.type === 'landing.upheld') {
    const upheld = upheldLanding(context, event)
    return upheld === null ? null : stateOf({ ...context, ...upheld })
  }
  if (event.type !== 'block.seen' && event.type !== 'status.seen') return null
  const landing = landingAfter(context, event)
  return landing === null ? null : stateOf(landing)
}

/**
 * Returns the known facts after a send. Sends of one instant by several routes count as one, even if a slow route answers
 * after the next instant.
 */
function afterSend(context: TransactionContext, { atMs, slot, leaders }: SendMade): TransactionContext {
  if (context.lastSentAtMs !== null && atMs <= context.lastSentAtMs)
    return leaders === 0 ? context : { ...context, leadersSent: context.leadersSent + leaders }
  return {
    ...context,
    sends: context.sends + 1,
    leadersSent: context.leadersSent + leaders,
    firstSentAtMs: context.firstSentAtMs ?? atMs,
    lastSentAtMs: atMs,
    firstSentSlot: context.firstSentAtMs === null ? slot : context.firstSentSlot
  }
}

interface Scope {
  readonly context: TransactionContext
  readonly event: TransactionEvent
}
const leadsTo =
  (state: TransactionMachineState) =>
  ({ context, event }: Scope): boolean =>
    stateAfter(context, event) === state

const charts = setup({
  types: { context: {} as TransactionContext, events: {} as TransactionEvent },
  actions: {
    countSend: assign(({ context, event }) => (event.type === 'send.made' ? afterSend(context, event) : {})),
    land: assign(({ context, event }) =>
      event.type === 'block.seen' || event.type === 'status.seen' ? (landingAfter(context, event) ?? {}) : {}
    ),
    uphold: assign(({ context, event }) =>
      event.type === 'landing.upheld' ? (upheldLanding(context, event) ?? {}) : {}
    ),
    restore: assign(({ event }) => (event.type === 'progress.restored' ? event.context : {})),
    forgetBlock: assign(NOWHERE),
    doubt: assign({ claimedAtMs: null, claimedSlot: null })
  },
  guards: {
    isFailing: leadsTo('failing'),
    isProcessed: leadsTo('processed'),
    isConfirmed: leadsTo('confirmed'),
    isClaimed: leadsTo('claimed'),
    isFinalized: leadsTo('finalized'),
    hasFailed: leadsTo('failed'),
    isOnLostFork: ({ context, event }) =>
      event.type === 'fork.lost' && context.slot !== null && context.slot > event.afterSlot
  }
})

/** Transitions by evidence of a block that has the transaction. */
const LANDED = [
  { guard: 'isFailing', target: '#transaction.failing', actions: 'land' },
  { guard: 'isProcessed', target: '#transaction.processed', actions: 'land' },
  { guard: 'isConfirmed', target: '#transaction.confirmed', actions: 'land' },
  { guard: 'isClaimed', target: '#transaction.claimed', actions: 'land' },
  { guard: 'isFinalized', target: '#transaction.finalized', actions: 'land' },
  { guard: 'hasFailed', target: '#transaction.failed', actions: 'land' }
] as const
const SEEN = {
  'send.made': { actions: 'countSend' },
  'block.seen': LANDED,
  'status.seen': LANDED
} as const
const DROPPED = {
  'fork.lost': { guard: 'isOnLostFork', target: '#transaction.sent', actions: 'forgetBlock' },
  'landing.doubted': { actions: 'doubt' }
} as const

const LEFT = { 'following.ended': '#transaction.unresolved' } as const

export const transactionMachine = charts.createMachine({
  id: 'transaction',
  context: {
    sends: 0,
    leadersSent: 0,
    firstSentAtMs: null,
    lastSentAtMs: null,
    firstSentSlot: null,
    ...NOWHERE
  },
  initial: 'sent',
  states: {
    sent: {
      on: {
        ...SEEN,
        'progress.restored': [
          { guard: 'isProcessed', target: 'processed', actions: 'restore' },
          { guard: 'isConfirmed', target: 'confirmed', actions: 'restore' },
          { guard: 'isClaimed', target: 'claimed', actions: 'restore' },
          { actions: 'restore' }
        ],
        'lifetime.ended': 'expired',
        ...LEFT
      }
    },
    failing: {
      on: { ...SEEN, ...DROPPED, 'following.ended': { target: 'unresolved', actions: 'forgetBlock' } }
    },
    processed: { on: { ...SEEN, ...DROPPED, ...LEFT } },
    confirmed: { on: { ...SEEN, ...DROPPED, ...LEFT } },
    claimed: {
      on: {
        ...SEEN,
        ...DROPPED,
        ...LEFT,
        'landing.upheld': [
          { guard: 'isFinalized', target: 'finalized', actions: 'uphold' },
          { guard: 'hasFailed', target: 'failed', actions: 'uphold' }
        ]
      }
    },
    unresolved: { type: 'final' },
    finalized: { type: 'final' },
    failed: { type: 'final' },
    expired: { type: 'final' }
  }
})

export type TransactionMachineState =
  | 'sent'
  | 'failing'
  | 'processed'
  | 'confirmed'
  | 'claimed'
  | 'unresolved'
  | 'finalized'
  | 'failed'
  | 'expired'

/** Tells whether the loop sends: until a block at confirmed, or at processed with an error, has the transaction. */
export const isLooping = ({
  value,
  context
}: {
  readonly value: TransactionMachineState
  readonly context: TransactionContext
}): boolean => value === 'sent' || (value === 'processed' && context.err === null)
