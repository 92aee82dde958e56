import { CLAIMED_MS, isStale } from '../../machines/landing.ts'
import { isAbsent, isBeyondCache, RECENT_MS, type AnsweredStatuses } from '../../src/transactions/absence.ts'
import {
  COMMITMENTS,
  landingOf,
  type LandedMember,
  type Landing
} from '../../src/transactions/bundle-landing.ts'
import type { Bundle } from '../../src/transactions/bundle.ts'
import { Contradictions } from '../../src/transactions/contradictions.ts'
import { isPossibleLanding } from '../../src/transactions/possible-landing.ts'
import type { SignatureStatus } from '../../src/transactions/ports.ts'
import type { Clock } from '../../src/ports.ts'

/** One member on chain, as far as it is known. */
interface Member {
  landed: LandedMember | null
  /** Slot of the block that was read with it; null before, and after a lost fork. */
  sightedSlot: number | null
  /** Unix milliseconds since when one node has stated this block and outcome; null if they are borne out. */
  claimedAtMs: number | null
  /** Whether that node calls the block final. */
  isFinalToOne: boolean
  readonly contradictions: Contradictions
}

/**
 * The members of a bundle on chain, as blocks and nodes state them. The word of one node ends no bundle at once. A member is
 * at most confirmed until a block, a second node or a minute of equal answers bears it out.
 */
export class BundleMembers {
  readonly #bundle: Pick<Bundle, 'receivedAtMs' | 'blockhashes'>
  readonly #clock: Clock
  readonly #members: ReadonlyMap<string, Member>
  readonly #unsearchedTo: number
  /** The newest slot at which each unknown member had certainly not landed; null before the first. */
  absentSlot: number | null = null
  /** When nodes without history first failed to find the members, in Unix milliseconds; null if never. */
  unknowableSinceMs: number | null = null
  /** Whether the blockhashes were valid for certain while the bundle was tracked. */
  hasSeenBlockhashes = false

  /**
   * `landed` is where an earlier process has seen all members; null for a bundle that has not landed. `unsearchedTo` is the
   * highest slot of the blocks that were read before they were searched for the members.
   */
  constructor(
    bundle: Pick<Bundle, 'signatures' | 'receivedAtMs' | 'blockhashes'>,
    {
      landed,
      unsearchedTo,
      clock
    }: { readonly landed: LandedMember | null; readonly unsearchedTo: number; readonly clock: Clock }
  ) {
    this.#unsearchedTo = unsearchedTo
    this.#bundle = bundle
    this.#clock = clock
    const claimedAtMs = landed === null ? null : clock.now()
    this.#members = new Map(
      bundle.signatures.map((signature) => [
        signature,
        {
          landed,
          sightedSlot: null,
          claimedAtMs,
          isFinalToOne: false,
          contradictions: new Contradictions()
        }
      ])
    )
  }

  get landing(): Landing {
    const members = [...this.#members.values()]
    const landing = landingOf(members.map(({ landed }) => landed))
    return landing.kind === 'split' && this.hasClaims ? { kind: 'open' } : landing
  }

  /** Whether one node alone states the block of a member. */
  get hasClaims(): boolean {
    return this.#members.values().some(({ claimedAtMs }) => claimedAtMs !== null)
  }

  /** Whether one node alone calls the block of a member final, so that all nodes are queried. */
  get isFinalToOne(): boolean {
    return this.#members.values().some((each) => each.claimedAtMs !== null && each.isFinalToOne)
  }

  /** Tells whether the cache of a node at a slot may have forgotten the blocks of members. */
  areBeyondCache(contextSlot: number): boolean {
    return this.#members
      .values()
      .some(({ landed }) => landed !== null && isBeyondCache(landed.slot, contextSlot))
  }

  /** Records the answer of nodes about all members; `history` tells whether their histories were searched. */
  noteAnswer(
    statuses: ReadonlyMap<string, SignatureStatus | null>,
    { contextSlot, isWhole }: Pick<AnsweredStatuses, 'contextSlot' | 'isWhole'>,
    history: boolean
  ): void {
    let isProven = true
    for (const [signature, member] of this.#members) {
      const status = statuses.get(signature) ?? null
      if (status !== null) {
        // A wrong answer is no answer: neither a landing nor its absence.
        if (this.#isCredible(status, contextSlot)) this.#noteStatus(member, status, contextSlot)
        else isProven = false
        continue
      }
      const landedSlot = member.landed?.slot ?? null
      const isNew = this.hasSeenBlockhashes && this.#clock.now() - this.#bundle.receivedAtMs <= RECENT_MS
      const facts = { landedSlot, absentSlot: this.absentSlot, isNew }
      if (isAbsent(facts, contextSlot, isWhole)) this.#contradict(member, contextSlot)
      else isProven = false
    }
    if (isProven) this.absentSlot = Math.max(contextSlot, this.absentSlot ?? 0)
    this.unknowableSinceMs = isProven || !history ? null : (this.unknowableSinceMs ?? this.#clock.now())
  }

  /** Records the block of a slot that was read, with the members in it: whether each has failed. */
  noteBlock(
    slot: number,
    commitment: LandedMember['commitment'],
    failedBySignature: ReadonlyMap<string, boolean>
  ): void {
    for (const [signature, member] of this.#members) {
      const failed = failedBySignature.get(signature)
      if (failed !== undefined) this.#noteSighting(member, slot, failed, commitment)
      else if (slot > this.#unsearchedTo && member.landed?.slot === slot && member.sightedSlot !== slot)
        forget(member)
    }
  }

  /** Forgets members in blocks above a slot: they were on a lost fork. */
  noteLost(afterSlot: number): void {
    for (const member of this.#members.values())
      if (member.landed !== null && member.landed.slot > afterSlot) forget(member)
  }

  #isCredible(status: SignatureStatus, contextSlot: number): boolean {
    if (status.slot > contextSlot) return false
    if ((status.nodes ?? 1) > 1) return true
    const { receivedAtMs, blockhashes } = this.#bundle
    // Without blockhashes all members have durable nonces, which may have been used at any time.
    const bounds = {
      receivedAtMs,
      nonceAccount: null,
      unusedNonceSlot: null,
      isBlockhashOld: blockhashes.length === 0 || !this.hasSeenBlockhashes
    }
    return isPossibleLanding(bounds, status, contextSlot, this.#clock.now())
  }

  #noteStatus(member: Member, status: SignatureStatus, contextSlot: number): void {
    const { landed: known, sightedSlot } = member
    const { slot, commitment: stated, err, nodes = 1 } = status
    const hasFailed = err !== null
    if (known !== null && isStale(known, status) && !this.#contradict(member, contextSlot)) return
    const isSame = member.landed?.slot === slot && member.landed.hasFailed === hasFailed
    // Nodes do not change the outcome in a block that was read, and one node states no other block.
    if (sightedSlot !== null && member.landed !== null && !isSame && (slot === sightedSlot || nodes === 1))
      return
    member.contradictions.clear()
    const nowMs = this.#clock.now()
    const claimedAtMs = isSame && member.claimedAtMs !== null ? member.claimedAtMs : nowMs
    const isBorneOut =
      nodes > 1 ||
      slot === sightedSlot ||
      (isSame && member.claimedAtMs === null) ||
      nowMs - claimedAtMs >= CLAIMED_MS
    member.claimedAtMs = isBorneOut ? null : claimedAtMs
    member.isFinalToOne = !isBorneOut && stated === 'finalized'
    const believed = member.isFinalToOne ? 'confirmed' : stated
    const isBehind = isSame && COMMITMENTS.indexOf(member.landed!.commitment) > COMMITMENTS.indexOf(believed)
    const commitment = isBehind ? member.landed!.commitment : believed
    member.landed = { slot, commitment, hasFailed, err }
  }

  /** Records an answer without the known block of a member. Returns whether the member has lost its block. */
  #contradict(member: Member, contextSlot: number): boolean {
    const { landed, contradictions } = member
    if (landed === null || !contradictions.note(landed.slot, contextSlot)) return false
    if (member.claimedAtMs !== null) member.claimedAtMs = this.#clock.now()
    if (!contradictions.areEnough) return false
    contradictions.clear()
    forget(member)
    return true
  }

  #noteSighting(
    member: Member,
    slot: number,
    hasFailed: boolean,
    commitment: LandedMember['commitment']
  ): void {
    const { landed: known } = member
    member.sightedSlot = slot
    member.claimedAtMs = null
    const isSame = known?.slot === slot && known.hasFailed === hasFailed
    // A status may have come first, with a higher commitment and with the error.
    if (isSame && COMMITMENTS.indexOf(known.commitment) >= COMMITMENTS.indexOf(commitment)) return
    member.contradictions.clear()
    member.landed = { slot, commitment, hasFailed, err: isSame ? known.err : null }
  }
}

function forget(member: Member): void {
  member.landed = null
  member.sightedSlot = null
  member.claimedAtMs = null
  member.isFinalToOne = false
}
