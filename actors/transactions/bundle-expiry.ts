import type { Clock } from '../../src/ports.ts'
import { isBorneOut } from '../../src/transactions/independent-evidence.ts'
import type { BlockSightings, TransactionNode } from '../../src/transactions/ports.ts'
import type { TrackedBundle } from './tracked-bundle.ts'

/** Blocks after the block of its blockhash in which a transaction can land (Agave, MAX_PROCESSING_AGE). */
const BLOCKHASH_BLOCKS = 150

export interface BundleExpiryDeps {
  readonly node: Pick<TransactionNode, 'height' | 'isBlockhashValid'>
  readonly sightings: BlockSightings
  readonly clock: Clock
  /** Reads the statuses of a bundle's members, from the histories of nodes too. Resolves with the slot of the statuses. */
  readonly readHistory: (bundle: TrackedBundle) => Promise<number>
}

/** Ends the bundles of which no member can land any more, and the tracking of those whose end cannot be known. */
export class BundleExpiry {
  readonly #deps: BundleExpiryDeps

  constructor(deps: BundleExpiryDeps) {
    this.#deps = deps
  }

  /** Checks all tracked bundles. Rejects with a fault of the nodes or of the store. */
  async check(bundles: readonly TrackedBundle[], signal: AbortSignal): Promise<void> {
    const { node, clock, sightings } = this.#deps
    for (const bundle of bundles) if (bundle.isFollowedEnough(clock.now())) await bundle.abandon()
    const open = bundles.filter(
      ({ stored, landing, members, isDone }) =>
        !isDone && stored.value.blockhashes.length > 0 && landing.kind !== 'landed' && !members.hasClaims
    )
    if (open.length === 0) return
    const { height } = await node.height(signal)
    for (const bundle of open) {
      const last = bundle.lastValidBlockHeight(sightings, height + BLOCKHASH_BLOCKS)
      const { receivedAtMs } = bundle.stored.value
      const lifespan = { lastHeight: last, receivedAtMs, seenSlot: null }
      if (height <= last || !isBorneOut(lifespan, sightings, clock.now())) continue
      if (await this.#areInvalid(bundle, signal)) await bundle.expire()
    }
  }

  /** Tells whether a node calls all blockhashes invalid, and statuses at that slot know no more members than before. */
  async #areInvalid(bundle: TrackedBundle, signal: AbortSignal): Promise<boolean> {
    let since = 0
    for (const blockhash of bundle.stored.value.blockhashes) {
      const { isValid, contextSlot } = await this.#deps.node.isBlockhashValid(blockhash, signal)
      if (isValid) return false
      since = Math.max(since, contextSlot)
    }
    const asOf = await this.#deps.readHistory(bundle)
    return asOf >= since && (bundle.members.absentSlot ?? -1) >= since && bundle.landing.kind !== 'landed'
  }
}
