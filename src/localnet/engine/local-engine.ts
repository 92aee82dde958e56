import { encodeBase58 } from '../../chain/base58.ts'
import { BUNDLE_SIZE_MAX, bundleIdOf } from '../../signing/bundle-id.ts'
import { TIP_MIN_LAMPORTS, tipOf } from '../../chain/tip.ts'
import { readWire } from '../../chain/wire.ts'
import type { Commitment } from '../../market/rows.ts'
import type { Clock } from '../../ports.ts'
import type { BundleOutcome, LocalChain } from '../chain.ts'
import { TIP_ACCOUNTS } from './tip-accounts.ts'

/** Milliseconds for which the engine retains a bundle (`getInflightBundleStatuses` of the real engine). */
const RETENTION_MS = 300_000
/** Maximum number of bundles retained; the oldest is evicted first. 30 a second for the whole retention. */
const BUNDLES_MAX = 10_000
/** Landed tips that determine the tip floor, newest last. Arbitrary: several minutes of a busy localnet. */
const TIPS_MAX = 1_000
/**
 * Tips in lamports of a new localnet, so that the floor has a plausible form before the first paid tip. Quarters and tails
 * are those that the feed's documentation shows for mainnet.
 */
const FIRST_TIPS: readonly number[] = [
  ...Array.from({ length: 25 }, (_, index) => 1_000 + index * 208),
  ...Array.from({ length: 25 }, (_, index) => 6_001 + index * 166),
  ...Array.from({ length: 25 }, (_, index) => 10_000 + index * 1_091),
  ...Array.from({ length: 20 }, (_, index) => 36_197 + index * 74_300),
  ...[2_000_000, 4_000_000, 7_000_000, 10_007_999, 20_000_000]
]

export interface InflightStatus {
  readonly bundle_id: string
  readonly status: 'Invalid' | 'Pending' | 'Failed' | 'Landed'
  readonly landed_slot: number | null
  /** Why a bundle has failed; not in the real engine's answer. */
  readonly reason?: string
  readonly err?: unknown
}

export interface BundleStatus {
  readonly bundle_id: string
  readonly transactions: readonly string[]
  readonly slot: number
  readonly confirmation_status: Commitment
  readonly err: { readonly Ok: null }
}

/** The tip floor in SOL, in the form of the feed. */
export interface TipFloor {
  readonly time: string
  readonly landed_tips_25th_percentile: number
  readonly landed_tips_50th_percentile: number
  readonly landed_tips_75th_percentile: number
  readonly landed_tips_95th_percentile: number
  readonly landed_tips_99th_percentile: number
  readonly ema_landed_tips_50th_percentile: number
}

/** A bundle that the engine refuses; the message is for the client. */
export class BundleRefusal extends Error {}

interface Remembered {
  readonly signatures: readonly Uint8Array[]
  readonly takenAtMs: number
  readonly tip: number
  outcome: BundleOutcome | null
}

/** The localnet's block engine: bundles go to the bank, which executes each in one block, all or nothing. */
export class LocalEngine {
  readonly #chain: LocalChain
  readonly #clock: Pick<Clock, 'now'>
  readonly #tipAccounts: ReadonlySet<string> = new Set(TIP_ACCOUNTS)
  readonly #bundles = new Map<string, Remembered>()
  readonly #tips: number[] = [...FIRST_TIPS]
  /** Moving average of landed tips; each new one weighs a twentieth. */
  #average = 9_836

  constructor(chain: LocalChain, clock: Pick<Clock, 'now'>) {
    this.#chain = chain
    this.#clock = clock
  }

  /** The slot at which statuses are true. */
  get slot(): number {
    return this.#chain.slot('processed')
  }

  /**
   * Accepts a bundle and returns its id. A known bundle is accepted again only if it was refused: it may succeed by now.
   *
   * @throws BundleRefusal, or SendFailure for wrong bytes or signatures or a full queue
   */
  sendBundle(wires: readonly Uint8Array[]): string {
    if (wires.length === 0) throw new BundleRefusal('bundle contains no transactions')
    if (wires.length > BUNDLE_SIZE_MAX)
      throw new BundleRefusal(`bundle contains too many transactions, max allowed ${BUNDLE_SIZE_MAX}`)
    const read = wires.map((bytes) => readWire(bytes))
    const readable = read.flatMap((each) => (each.kind === 'wire' ? [each.wire] : []))
    if (readable.length < wires.length) throw new BundleRefusal('bundle contains an invalid transaction')
    const id = bundleIdOf(readable.map(({ signatures }) => encodeBase58(signatures[0]!)))
    const known = this.#known(id)
    if (known !== null && known.outcome?.kind !== 'refused') return id
    const tip = readable.reduce((sum, wire) => sum + tipOf(wire, this.#tipAccounts), 0n)
    if (tip < TIP_MIN_LAMPORTS)
      throw new BundleRefusal(
        `Bundles must tip at least ${TIP_MIN_LAMPORTS} lamports to a tip account to be eligible for the auction.`
      )
    const bundle: Remembered = {
      signatures: readable.map(({ signatures }) => signatures[0]!),
      takenAtMs: this.#clock.now(),
      tip: Number(tip),
      outcome: null
    }
    this.#chain.sendBundle(wires, (outcome) => this.#note(bundle, outcome))
    this.#bundles.set(id, bundle)
    const oldest = this.#bundles.keys().next().value
    if (this.#bundles.size > BUNDLES_MAX && oldest !== undefined) this.#bundles.delete(oldest)
    return id
  }

  /** Sends a transaction as on a node, without preflight. */
  sendTransaction(wire: Uint8Array): string {
    return encodeBase58(this.#chain.send(wire, { skipPreflight: true }))
  }

  inflight(ids: readonly string[]): InflightStatus[] {
    return ids.map((id) => {
      const bundle = this.#known(id)
      if (bundle === null) return { bundle_id: id, status: 'Invalid', landed_slot: null }
      const slot = this.#landedSlot(bundle)
      if (slot !== null) return { bundle_id: id, status: 'Landed', landed_slot: slot }
      if (bundle.outcome?.kind !== 'refused') return { bundle_id: id, status: 'Pending', landed_slot: null }
      const { why, err } = bundle.outcome
      const reason =
        why === 'expired'
          ? 'blockhash_expired'
          : why === 'known'
            ? 'partially_processed'
            : 'simulation_failure'
      return { bundle_id: id, status: 'Failed', landed_slot: null, reason, err }
    })
  }

  /** Returns statuses of landed bundles; null for any other. */
  statuses(ids: readonly string[]): (BundleStatus | null)[] {
    return ids.map((id) => {
      const bundle = this.#known(id)
      const found = bundle === null ? null : this.#chain.transaction(bundle.signatures[0]!)
      if (bundle === null || found === null || bundle.outcome?.kind !== 'landed') return null
      return {
        bundle_id: id,
        transactions: bundle.signatures.map((signature) => encodeBase58(signature)),
        slot: found.slot,
        confirmation_status: found.commitment,
        err: { Ok: null }
      }
    })
  }

  tipFloor(): TipFloor {
    const sorted = this.#tips.toSorted((a, b) => a - b)
    const at = (percent: number): number => sorted[Math.ceil((percent / 100) * sorted.length) - 1]! / 1e9
    return {
      time: new Date(this.#clock.now()).toISOString(),
      landed_tips_25th_percentile: at(25),
      landed_tips_50th_percentile: at(50),
      landed_tips_75th_percentile: at(75),
      landed_tips_95th_percentile: at(95),
      landed_tips_99th_percentile: at(99),
      ema_landed_tips_50th_percentile: Math.round(this.#average) / 1e9
    }
  }

  #note(bundle: Remembered, outcome: BundleOutcome): void {
    const isFirst = bundle.outcome?.kind !== 'landed'
    bundle.outcome = outcome
    // After a fork, a bundle lands again.
    if (outcome.kind !== 'landed' || !isFirst) return
    this.#tips.push(bundle.tip)
    if (this.#tips.length > TIPS_MAX) this.#tips.shift()
    this.#average += (bundle.tip - this.#average) / 20
  }

  #landedSlot({ outcome, signatures }: Remembered): number | null {
    if (outcome?.kind !== 'landed') return null
    return this.#chain.transaction(signatures[0]!)?.slot ?? null
  }

  #known(id: string): Remembered | null {
    const bundle = this.#bundles.get(id)
    if (bundle === undefined) return null
    if (this.#clock.now() - bundle.takenAtMs <= RETENTION_MS) return bundle
    this.#bundles.delete(id)
    return null
  }
}
