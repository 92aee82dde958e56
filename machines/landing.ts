import type { Commitment } from '../src/market/rows.ts'

/** The block that has a transaction, as blocks and nodes state it. */
export interface Landing {
  /** Slot and commitment of the block, and position of the transaction in it; null while unknown. */
  readonly slot: number | null
  readonly commitment: Commitment | null
  readonly index: number | null
  /** The chain's error in JSON-RPC form; null for a success. */
  readonly err: unknown
  readonly confirmations: number | null
  /** Unix milliseconds at which the block was first seen. */
  readonly landedAtMs: number | null
  /** The strongest evidence for that block; null before the first landing. */
  readonly evidence: Evidence | null
  /** First answer of the current run that nothing has contradicted: Unix milliseconds, and the slot of the answer. */
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
 * Slots and milliseconds between two answers of one node after which a finalized block is believable. Fewer than the 32
 * slots of finality, so that a transaction whose landing is seen does not wait for finality. The time counts too, because a
 * node can report any slot.
 */
const BORNE_OUT = { slots: 24, ms: 9_600 } as const
/**
 * Milliseconds of equal answers after which the word of one node ends the tracking: 150 slots. In that time a transaction
 * that did not land is likely to have reached its own end.
 */
export const CLAIMED_MS = 60_000

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
  /** Context slot of the node's answer. */
  readonly contextSlot: number
  /** Number of nodes that state it. */
  readonly nodes: number
}

/** Evidence that supports the known landing of a transaction, apart from statuses. */
export interface LandingUpheld {
  readonly type: 'landing.upheld'
  readonly slot: number
  /** `block`: a node gave the block, and the transaction is in it. `node`: no answer can show more. */
  readonly evidence: 'block' | 'node'
  /** Position in the block; null if it was not read. */
  readonly index: number | null
}

/** The landing of a transaction that no block has. */
export const NOWHERE: Landing = {
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
export const UNKNOWN_ERROR = Symbol('unknown error')

/**
 * Tells whether a block or status names a block other than the known one, at a lower commitment. It then changes nothing.
 */
export function isStale(
  known: Pick<Landing, 'slot' | 'commitment'>,
  { slot, commitment }: Pick<StatusSeen, 'slot' | 'commitment'>
): boolean {
  return known.commitment !== null && known.slot !== slot && RANK[commitment] < RANK[known.commitment]
}

/** Tells whether a block or status states the known slot with the other outcome. */
function isOtherOutcome(known: Landing, event: BlockSeen | StatusSeen): boolean {
  const hasFailed = 'failed' in event ? event.failed : event.err !== null
  return known.slot === event.slot && (known.err !== null) !== hasFailed
}

/**
 * Tells whether the known evidence is stronger than a status. The word of one node does not replace a block that was read,
 * or that several nodes state. No number of nodes changes the outcome in a block that was read.
 */
function isOutweighed(known: Landing, event: BlockSeen | StatusSeen): boolean {
  if (event.type === 'block.seen') return false
  if (known.evidence === 'block' && isOtherOutcome(known, event)) return true
  const isFirm = known.evidence === 'block' || known.evidence === 'nodes'
  return isFirm && event.nodes === 1 && (known.slot !== event.slot || isOtherOutcome(known, event))
}

const higher = (known: Commitment | null, reported: Commitment): Commitment =>
  known !== null && RANK[known] > RANK[reported] ? known : reported

/** Returns the landing that a block or a status leaves known; null if it changes nothing. */
export function landingAfter(before: Landing, event: BlockSeen | StatusSeen): Landing | null {
  const { slot, commitment, atMs } = event
  const isSameSlot = before.slot === slot
  // The other outcome in this slot is a different landing, which no earlier answer of the event's nodes has stated.
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

/**
 * Returns the commitment that a block or status makes believable: one node alone does not state that a new block is final.
 */
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

/** Returns the landing after something bears it out; null if that concerns another block. */
export function upheldLanding(
  known: Landing,
  { slot, evidence, index }: LandingUpheld
): Pick<Landing, 'evidence' | 'index'> | null {
  return known.slot === slot ? { evidence, index: index ?? known.index } : null
}
