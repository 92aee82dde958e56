import { LostClaim } from '../../src/kernel/errors.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import type { ScyllaCrashPoint } from '../crash-points.ts'
import { CommittedVersions } from './base.ts'
import type { ScyllaBase } from './base.ts'
import { limitedReads, patientReads, takeEpoch } from './claims.ts'
import type { ClaimReads } from './claims.ts'
import type { Version } from './version.ts'
import { superseded } from './errors.ts'
import type { WatermarkReader } from './watermark-reader.ts'
import type { Watermarks } from './visibility.ts'
import { claimOf, selectClaim, selectEpochs, watermarksOf } from './watermark.ts'

export interface WriterClaimOptions {
  readonly reached: (point: ScyllaCrashPoint) => void
  readonly watermarkReader: WatermarkReader
  /** Estimated bytes of records that a writer caches. */
  readonly committedBytesMax: number
}

/** This process's write claim, and state that is valid only while it holds the claim. */
export class WriterClaim {
  readonly #base: ScyllaBase
  readonly #options: WriterClaimOptions
  #epoch: number | null = null
  /** The token that the last claim of this process was stored with. */
  #token: bigint | null = null
  /** Set once another process has claimed, or the cluster has forgotten commits, until this one claims again. */
  #isSuperseded = false
  /** The error of a background operation; the next `hold` throws it. */
  #failure: Error | null = null
  /** The last epoch of ours, if it has ended well: the next one must follow it. */
  #ended: number | null = null
  #committed: CommittedVersions
  /** The number of the newest commit. */
  newest = 0

  constructor(base: ScyllaBase, options: WriterClaimOptions) {
    this.#base = base
    this.#options = options
    this.#committed = new CommittedVersions(options.committedBytesMax)
  }

  /** This process's epoch, until something fails or another process claims. */
  get epoch(): number | null {
    return this.#epoch
  }

  get committed(): CommittedVersions {
    return this.#committed
  }

  /** Claims the next epoch, whichever process has the current one. */
  claim(token: number | null): Promise<SlotRow | null> {
    const reads = limitedReads(this.#base.client)
    return this.#take({
      token: token === null ? null : BigInt(token),
      reads,
      after: null,
      point: 'claim.taken'
    })
  }

  /** Ensures that this process has an epoch, as far as it knows; resolves with whether a new one was taken. */
  async hold(): Promise<boolean> {
    const failure = this.#failure
    if (failure !== null) {
      this.#failure = null
      throw failure
    }
    if (this.#isSuperseded) throw superseded()
    if (this.#epoch !== null) {
      // Blocks of another process that reads have discovered must not count as our own.
      if (this.#base.visibility.committed.epoch <= this.#epoch) return false
      const error = superseded()
      this.end(this.#epoch, error)
      throw error
    }
    await this.#takeNext(this.#ended, 'claim.taken')
    return true
  }

  /** Rejects, and ends our epoch, if another process has claimed since. */
  async confirm(): Promise<void> {
    const { epoch } = claimOf(await this.#base.client.readSerial(selectClaim))
    if (epoch === this.#epoch) return
    const error = superseded()
    this.end(this.#epoch, error)
    throw error
  }

  /** Claims the epoch that follows ours, unless another process has; resolves with its number. */
  async renew(point: ScyllaCrashPoint): Promise<number> {
    await this.#takeNext(this.#epoch, point)
    return this.#epoch!
  }

  /** Ends an epoch of ours without missing writes. The next one is taken if no other process has claimed. */
  complete(epoch: number): void {
    if (this.end(epoch)) this.#ended = epoch
  }

  /** Ends an epoch of ours, and the state that depends on it; false if it has ended already. */
  end(epoch: number | null, error: unknown = null): boolean {
    if (this.#epoch !== epoch) return false
    this.#epoch = null
    this.#ended = null
    this.#committed = new CommittedVersions(this.#options.committedBytesMax)
    if (error instanceof LostClaim) this.#isSuperseded = true
    return true
  }

  /** Ends an epoch as `end` does, for background work. */
  fail(epoch: number, error: Error): void {
    if (this.end(epoch, error)) this.#failure = error
  }

  /** Tells whether a commit has moved its watermark; rejects when it cannot any more. */
  async isDecided({ epoch, number }: Version, which: 'committed' | 'flushed'): Promise<boolean> {
    const { client, visibility } = this.#base
    const now: Watermarks = watermarksOf(await client.trySerial(selectEpochs(epoch)), visibility.known)
    if (now[which].isVisible(epoch, number)) return true
    if (now[which].epoch === epoch) return false
    throw superseded()
  }

  async #takeNext(after: number | null, point: ScyllaCrashPoint): Promise<void> {
    const reads = patientReads(this.#base.client)
    await this.#take({ token: this.#token, reads, after, point })
  }

  async #take({ token, reads, after, point }: Taking): Promise<SlotRow | null> {
    this.end(this.#epoch)
    const { client, visibility } = this.#base
    try {
      const { epoch, token: taken } = await takeEpoch(client, token, reads, after)
      this.#options.reached(point)
      // From here on no earlier epoch moves: this process continues from the state that is committed now.
      const rows = await reads.serial(selectEpochs(visibility.committed.epoch))
      await this.#options.watermarkReader.take(rows, reads.each)
      if (visibility.committed.epoch !== epoch) throw superseded()
      this.#epoch = epoch
      this.#token = taken
    } catch (error) {
      if (error instanceof LostClaim) this.#isSuperseded = true
      throw error
    }
    const { committed, snapshot } = visibility
    this.#isSuperseded = false
    this.#failure = null
    this.newest = Math.max(committed.newest, snapshot.newest)
    return committed.head
  }
}

interface Taking {
  readonly token: bigint | null
  readonly reads: ClaimReads
  /** The epoch that must be the newest; null accepts any. */
  readonly after: number | null
  readonly point: ScyllaCrashPoint
}
