import { epochOf, type EpochSchedule } from '../chain/epoch-schedule.ts'
import { distinctPubkeys, pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import { NO_FEE, type TransferFeeLookup } from '../chain/transfer-fee.ts'
import { TimedCache } from '../kernel/memory/timed-cache.ts'
import { NodeError } from '../node/node-fault.ts'
import type { Clock } from '../ports.ts'
import { readMintAccount } from './mint-account.ts'
import { ACCOUNTS_AT_ONCE } from './node-client.ts'
import { isRefused } from './optional-key.ts'
import type { Account, AccountNode } from './ports.ts'
import { knownFeeAt, type TransferFeeConfig } from './transfer-fee.ts'

/** Milliseconds that a block waits for the node: two to three slots, which ingest makes up at once. */
export const FEE_WAIT_MS = 1_000
/** Pause of reads after a failed read, in milliseconds. An unreachable node delays ingest by a tenth at most. */
export const FEE_PAUSE_MS = 10_000
/** Milliseconds after which a mint that did not exist is read again. */
const ABSENT_MS = 60_000
/** Limit of the cache in bytes: 10,000 mints, several times the number that have a fee and trade in a day. */
const BYTES_MAX = 4 * 2 ** 20
const CONFIG_BYTES = 200

/** Reads the accounts that determine transfer fees. */
export type FeeNode = Pick<AccountNode, 'accounts' | 'epochSchedule'>

/** A mint's configuration as read: `none` has no transfer fee; `unclear` may have had a fee in earlier epochs. */
interface KnownConfig {
  readonly config: TransferFeeConfig | 'none' | 'unclear' | 'absent'
  readonly readEpoch: bigint
}

/**
 * The transfer fees of Token-2022 mints, for the decoder. Configurations are read when blocks need them, and cached.
 *
 * F1. A fee is returned for an epoch only if the configuration determines it (`knownFeeAt`). It was fixed before that
 *     epoch began. So decoding a block again gives equal events, or fewer while a configuration cannot be read.
 * F2. While the node is unreachable, only cached fees are returned. Events without a fee are held back and counted.
 * F3. A block waits at most `FEE_WAIT_MS`, and not at all within `FEE_PAUSE_MS` of a failed read.
 */
export class TransferFees {
  readonly #clock: Clock
  readonly #cache: TimedCache<KnownConfig>
  #node: FeeNode | null = null
  #schedule: EpochSchedule | null = null
  #pausedUntilMs = -Infinity
  /** Reads that failed, or did not end in time. */
  failed = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#cache = new TimedCache(clock, { bytesMax: BYTES_MAX })
  }

  /** Mints in the cache. */
  get size(): number {
    return this.#cache.size
  }

  /** Sets the node to read from; null if the service has no node. */
  connect(node: FeeNode | null): void {
    this.#node = node
  }

  /** Returns the fees that are known for a slot's epoch; null if no fee is known. */
  at(slot: number): TransferFeeLookup | null {
    if (this.#schedule === null) return null
    const epoch = epochOf(slot, this.#schedule)
    return (mint) => {
      const known = this.#cache.get(pubkeyMapKey(mint))
      if (known === undefined || typeof known.config !== 'object')
        return known?.config === 'none' ? NO_FEE : null
      return knownFeeAt(known.config, epoch, known.readEpoch)
    }
  }

  /**
   * Reads the configurations of up to 100 mints for the epoch of a slot. Returns whether any was read. Never rejects. Waits
   * for the node as F3 states.
   */
  async load(mints: readonly Pubkey[], slot: number): Promise<boolean> {
    const node = this.#node
    const now = this.#clock.now()
    if (node === null || now < this.#pausedUntilMs) return false
    const due = distinctPubkeys(mints)
      .filter((mint) => this.#isDue(mint, slot))
      .slice(0, ACCOUNTS_AT_ONCE)
    if (due.length === 0) return false
    const end = new AbortController()
    const late = new NodeError('node', { kind: 'timeout', afterMs: FEE_WAIT_MS })
    const timer = this.#clock.setTimeout(() => end.abort(late), FEE_WAIT_MS)
    const aborted = new Promise<never>((_, reject) =>
      end.signal.addEventListener('abort', () => reject(end.signal.reason as Error), { once: true })
    )
    try {
      await Promise.race([this.#read(node, due, end.signal), aborted])
      return true
    } catch {
      this.failed++
      this.#pausedUntilMs = this.#clock.now() + FEE_PAUSE_MS
      return false
    } finally {
      this.#clock.clearTimeout(timer)
    }
  }

  /** Tells whether a new reading of a mint may determine more of a slot's epoch than its cached configuration. */
  #isDue(mint: Pubkey, slot: number): boolean {
    const known = this.#cache.get(pubkeyMapKey(mint))
    if (known === undefined || this.#schedule === null) return true
    const epoch = epochOf(slot, this.#schedule)
    if (typeof known.config !== 'object' || epoch <= known.readEpoch) return false
    return knownFeeAt(known.config, epoch, known.readEpoch) === null
  }

  async #read(node: FeeNode, mints: readonly Pubkey[], signal: AbortSignal): Promise<void> {
    const schedule = (this.#schedule ??= await node.epochSchedule(signal))
    const { slot, accounts } = await node.accounts(mints, signal)
    const readEpoch = epochOf(slot, schedule)
    const readAtMs = this.#clock.now()
    for (const [at, mint] of mints.entries()) {
      const value = { config: configOf(accounts[at] ?? null), readEpoch }
      const endsAtMs = value.config === 'absent' ? readAtMs + ABSENT_MS : Infinity
      this.#cache.set(pubkeyMapKey(mint), { value, endsAtMs, bytes: CONFIG_BYTES })
    }
  }
}

function configOf(account: Account | null): KnownConfig['config'] {
  const mint = account === null ? null : readMintAccount(account)
  if (mint === null || isRefused(mint)) return 'absent'
  const { transferFee, closeAuthority } = mint.features
  // A mint that may be closed can have been created again, with other extensions.
  return transferFee ?? (closeAuthority === null ? 'none' : 'unclear')
}
