import { assign, setup } from 'xstate'
import type { Commitment } from '../src/market/rows.ts'

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
 * T6. A landing is stated by a block that was read, by two nodes, or by one node. The word of one node is a claim: it is
 *     finalized only once later answers have borne it out (`BORNE_OUT`), and it can be taken back until answers of a minute
 *     have stated the same (`CLAIMED_MS`). Until then its state is `claimed`, which is shown as final.
 * T7. A contrary answer starts the time of a claim anew.
 * T8. If its end cannot be known, it is followed only for a limited time. It is then `unresolved`, with the facts known so
 *     far.
 */
export interface TransactionContext {
  /** Sends that a node or a leader accepted, including the first one. */
  readonly sends: number
  /** Leaders that it was written to, over all sends. */
  readonly leadersSent: number
  /** Unix milliseconds; null before. */
  readonly firstSentAtMs: number | null
  readonly lastSentAtMs: number | null
  /** The newest block known at the first send; null without one. */
  readonly firstSentSlot: number | null
  /** The block that has it, its commitment, and the position in it; null before, or where it is not known. */
  readonly slot: number | null
  readonly commitment: Commitment | null
  readonly index: number | null
  /** The chain's error in JSON-RPC form; null for none. */
  readonly err: unknown
  readonly confirmations: number | null
  /** Unix milliseconds at which the block was first seen. */
  readonly landedAtMs: number | null
  /** The strongest evidence of that block; null before. */
  readonly evidence: Evidence | null
  /** The first answer since when nothing has contradicted that block: Unix milliseconds, and the slot as of which it holds. */
  readonly claimedAtMs: number | null
  readonly claimedSlot: number | null
}

/**
 * Evidence of a landing, the weakest first: `claim` is the word of one node, `node` that of one node over a minute, `nodes`
 * that of several nodes, `block` a block that this service read.
 */
export const EVIDENCE = ['claim', 'node', 'nodes', 'block'] as const
export type Evidence = (typeof EVIDENCE)[number]

/**
 * Slots and milliseconds between the first and a later answer of one node that make it believable that a block is
 * finalized. Chosen: less than the 32 slots that finality takes, so that a transaction whose landing is seen does not wait
 * for it. The time counts too, because a node can report any slot.
 */
const BORNE_OUT = { slots: 24, ms: 9_600 } as const
/**
 * Milliseconds of equal answers after which the word of one node ends the tracking. Chosen: 150 slots, in which a
 * transaction that did not land is likely to have come to its own end.
 */
const CLAIMED_MS = 60_000

/** A block that has the transaction, as the ingested chain shows it. */
export interface BlockSeen {
  readonly type: 'block.seen'
  readonly slot: number
  readonly commitment: Commitment
  readonly index: number
  readonly failed: boolean
  readonly atMs: number
}

/** A status of the transaction, as a node answers it. */
export interface StatusSeen {
  readonly type: 'status.seen'
  readonly slot: number
  readonly commitment: Commitment
  readonly err: unknown
  readonly confirmations: number | null
  readonly atMs: number
  /** The slot as of which the node answers. */
  readonly contextSlot: number
  /** Number of nodes that state it. */
  readonly nodes: number
}

/** A send that a node or a leader took. */
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
  /** Blocks above a slot were on a fork that the chain has left. */
  | { readonly type: 'fork.lost'; readonly afterSlot: number }
  /** A node does not know a landing, or states another one. */
  | { readonly type: 'landing.doubted' }
  /** No block has it, and none can have it any more. */
  | { readonly type: 'lifetime.ended' }
  /** It is not followed any longer, although its end is unknown. */
  | { readonly type: 'following.ended' }
  /** The progress that an earlier process stored. */
  | { readonly type: 'progress.restored'; readonly context: TransactionContext }

type Landing = Pick<
  TransactionContext,
  | 'slot'
  | 'commitment'
  | 'index'
  | 'err'
  | 'confirmations'
  | 'landedAtMs'
  | 'evidence'
  | 'claimedAtMs'
  | 'claimedSlot'
>

const NOWHERE: Landing = {
  slot: null,
  commitment: null,
  index: null,
  err: null,
  confirmations: null,
  landedAtMs: null,
  evidence: null,
  claimedAtMs: null,
  claimedSlot: null
}
const RANK: Readonly<Record<Commitment, number>> = { processed: 0, confirmed: 1, finalized: 2 }
/** The error of a transaction that a block shows as failed, before a status has given the actual error. */
const UNKNOWN_ERROR = Symbol('unknown error')

/** Tells whether evidence is of another block than the known one, at a lower commitment: it changes nothing. */
export function isStale(
  known: Pick<TransactionContext, 'slot' | 'commitment'>,
  { slot, commitment }: Pick<StatusSeen, 'slot' | 'commitment'>
): boolean {
  return known.commitment !== null && known.slot !== slot && RANK[commitment] < RANK[known.commitment]
}

/** Tells whether a block or status states the known slot with the other outcome. */
function isOtherOutcome(known: TransactionContext, event: BlockSeen | StatusSeen): boolean {
  const hasFailed = 'failed' in event ? event.failed : event.err !== null
  return known.slot === event.slot && (known.err !== null) !== hasFailed
}

/**
 * Tells whether stronger evidence than a status is known: the word of one node is of another block than one that was
 * read, or that several nodes state. The outcome in a block that was read is not changed by any number of nodes.
 */
function isOutweighed(known: TransactionContext, event: BlockSeen | StatusSeen): boolean {
  if (event.type === 'block.seen') return false
  if (known.evidence === 'block' && isOtherOutcome(known, event)) return true
  const isFirm = known.evidence === 'block' || known.evidence === 'nodes'
  return isFirm && event.nodes === 1 && (known.slot !== event.slot || isOtherOutcome(known, event))
}

const higher = (known: Commitment | null, reported: Commitment): Commitment =>
  known !== null && RANK[known] > RANK[reported] ? known : reported

/** Returns the known facts after a block or a status; null if it changes nothing. */
function seen(before: TransactionContext, event: BlockSeen | StatusSeen): Landing | null {
  const { slot, commitment, atMs } = event
  const isSameSlot = before.slot === slot
  // The other outcome in the same slot is another landing: whoever states it has not stated it before.
  const isSame = isSameSlot && !isOtherOutcome(before, event)
  const isLower = isSame && before.commitment !== null && RANK[commitment] < RANK[before.commitment]
  if (isStale(before, event) || isOutweighed(before, event)) return null
  const known = isSame ? before : { ...NOWHERE, landedAtMs: isSameSlot ? before.landedAtMs : atMs }
  const reported = 'failed' in event ? (event.failed ? UNKNOWN_ERROR : null) : event.err
  // A block shows a failure, and only a status tells the error.
  const err = isSame && before.err !== null && before.err !== UNKNOWN_ERROR ? before.err : reported
  const claim = claimAfter(known, event)
  return {
    slot,
    commitment: higher(isSame ? before.commitment : null, believed(commitment, claim, event)),
    ...claim,
    index: 'index' in event ? event.index : known.index,
    err,
    confirmations: 'confirmations' in event && !isLower ? event.confirmations : known.confirmations,
    landedAtMs: known.landedAtMs
  }
}

type Claim = Pick<Landing, 'evidence' | 'claimedAtMs' | 'claimedSlot'>

/** Returns the evidence of a block after one more block or status that states it. */
function claimAfter(known: Claim, event: BlockSeen | StatusSeen): Claim {
  const isBlock = event.type === 'block.seen'
  const asOfSlot = isBlock ? event.slot : event.contextSlot
  const { claimedAtMs, claimedSlot } =
    known.claimedAtMs === null ? { claimedAtMs: event.atMs, claimedSlot: asOfSlot } : known
  const isOld = event.atMs - claimedAtMs! >= CLAIMED_MS
  const stated = isBlock ? 'block' : event.nodes > 1 ? 'nodes' : isOld ? 'node' : 'claim'
  const isStronger = EVIDENCE.indexOf(stated) > EVIDENCE.indexOf(known.evidence ?? 'claim')
  return { evidence: isStronger ? stated : (known.evidence ?? stated), claimedAtMs, claimedSlot }
}

/** Returns the commitment that a block or status makes believable: one node alone does not state that a new block is final. */
function believed(
  commitment: Commitment,
  { claimedAtMs, claimedSlot }: Claim,
  event: BlockSeen | StatusSeen
): Commitment {
  if (commitment !== 'finalized' || event.type === 'block.seen' || event.nodes > 1) return commitment
  const isBorneOut =
    event.contextSlot >= claimedSlot! + BORNE_OUT.slots && event.atMs >= claimedAtMs! + BORNE_OUT.ms
  return isBorneOut ? commitment : 'confirmed'
}

/** Returns the state that a landing stands for. */
function stateOf({ commitment, err, evidence }: Landing): TransactionMachineState {
  if (err === UNKNOWN_ERROR) return 'failing'
  if (commitment === null) return 'sent'
  if (commitment === 'finalized' && evidence === 'claim') return 'claimed'
  return commitment === 'finalized' && err !== null ? 'failed' : commitment
}

/** Returns the state after an event; null where it changes nothing. */
function stateAfter(context: TransactionContext, event: TransactionEvent): TransactionMachineState | null {
  if (event.type === 'progress.restored') return stateOf(event.context)
  if (event.type !== 'block.seen' && event.type !== 'status.seen') return null
  const landing = seen(context, event)
  return landing === null ? null : stateOf(landing)
}

/**
 * Returns the known facts after a send. The state stays the same, except that final states ignore a send. Sends of one
 * instant by several routes count as one, even if a slow route answers after the next instant.
 */
export function afterSend(
  context: TransactionContext,
  { atMs, slot, leaders }: SendMade
): TransactionContext {
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
      event.type === 'block.seen' || event.type === 'status.seen' ? (seen(context, event) ?? {}) : {}
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
    claimed: { on: { ...SEEN, ...DROPPED, ...LEFT } },
    unresolved: { type: 'final' },
    finalized: { type: 'final' },
    failed: { type: 'final' },
    expired: { type: 'final' }
  }
})

export const TRANSACTION_MACHINE_STATES = [
  'sent',
  'failing',
  'processed',
  'confirmed',
  'claimed',
  'unresolved',
  'finalized',
  'failed',
  'expired'
] as const
export type TransactionMachineState = (typeof TRANSACTION_MACHINE_STATES)[number]

/** Tells whether the loop sends: until a block at confirmed, or at processed with an error, has the transaction. */
export const isLooping = ({
  value,
  context
}: {
  readonly value: TransactionMachineState
  readonly context: TransactionContext
}): boolean => value === 'sent' || (value === 'processed' && context.err === null)
