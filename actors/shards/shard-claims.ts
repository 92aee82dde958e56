import { z } from 'zod'
import { sleep, type Clock } from '../../src/ports.ts'
import { defineDocument, type DocumentDefinition } from '../../storage/document-definition.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents, type Stored } from '../../storage/documents.ts'
import type { Lease } from '../../storage/cluster/coordination.ts'
import { isOutage } from '../storage/retry.ts'

/** Heartbeat interval of the process that works without leases, in milliseconds. */
const BEAT_MS = 2_000
/** Missed heartbeats in a row after which another process takes over without leases. An outage of 20 s is rare. */
const BEATS_MISSED_MAX = 10

/** The right to work for a shard. */
export interface ShardClaim {
  readonly token: number
  /** Aborts once another process has the shard, or this one releases it. */
  readonly lost: AbortSignal
  /** Whether no other process can have it. */
  readonly held: boolean
  /** Reports that another process has written with a greater token; `lost` then aborts. */
  outranked(token: number): void
}

/** The process that works for a product's shards where there are no leases: the last one that claimed. */
interface ProcessClaim {
  readonly token: number
}
type ClaimDefinition = DocumentDefinition<ProcessClaim, never, never, { beat: number }>

const claimDocument = (product: string): ClaimDefinition =>
  defineDocument({
    kind: 'delivery-claim',
    schema: z.object({ token: z.number() }),
    partition: () => product,
    key: () => ['claim'],
    hot: z.object({ beat: z.number() })
  })

/** Returns a claim to a shard that follows a lease. */
export function claimOfLease(lease: Lease): ShardClaim {
  const lost = new AbortController()
  const lose = (): void => lost.abort(lease.lost.reason)
  lease.lost.addEventListener('abort', lose, { once: true })
  if (lease.lost.aborted) lose()
  return {
    token: lease.token,
    lost: lost.signal,
    get held() {
      return lease.held
    },
    outranked: (token) => {
      lost.abort(new Error(`another process works with token ${token}, above ${lease.token}`))
      void lease.release()
    }
  }
}

/**
 * One process's claim of all shards of a product without leases: on an embedded store, and on a cluster without Redis. The
 * process that claimed last has it. Another process takes over when the heartbeats stop.
 */
export class LeaselessClaim {
  readonly #product: string
  readonly #documents: Documents<ProcessClaim, never, never, { beat: number }>
  readonly #clock: Clock
  readonly #isShared: boolean

  constructor(product: string, store: DocumentStore, isShared: boolean, clock: Clock) {
    this.#product = product
    this.#documents = new Documents(store, claimDocument(product))
    this.#isShared = isShared
    this.#clock = clock
  }

  /** Claims: stores a token greater than every earlier one. */
  async take(
    end: AbortSignal
  ): Promise<{ readonly claim: ShardClaim; readonly stored: Stored<ProcessClaim> } | null> {
    while (!end.aborted) {
      const stored = await this.#tryTake().catch((error: unknown) => {
        if (!isOutage(error)) throw error
        return null
      })
      if (stored !== null) return { claim: this.#claimOf(stored), stored }
      await sleep(this.#clock, BEAT_MS / 4, end)
    }
    return null
  }

  /** Sends heartbeats until another process claims, which aborts the claim's `lost`, or `end` aborts. */
  async keep(
    { claim, stored }: { readonly claim: ShardClaim; readonly stored: Stored<ProcessClaim> },
    end: AbortSignal
  ): Promise<void> {
    if (!this.#isShared) return
    const over = AbortSignal.any([end, claim.lost])
    for (let beat = 1; !over.aborted; beat++) {
      try {
        await this.#documents.putHot(stored, claim.token, { beat })
        const current = await this.#get()
        if (current !== null && current.value.token > claim.token) claim.outranked(current.value.token)
      } catch (error) {
        if (!isOutage(error)) throw error
      }
      await sleep(this.#clock, BEAT_MS, over)
    }
  }

  /** Resolves when the process that has claimed is silent, or `end` aborts. */
  async silence(end: AbortSignal): Promise<void> {
    let seen = ''
    for (let missed = 0; !end.aborted && missed < BEATS_MISSED_MAX;) {
      await sleep(this.#clock, BEAT_MS, end)
      const now = await this.#readHeartbeat().catch((error: unknown) => {
        if (!isOutage(error)) throw error
        return null
      })
      if (now === null) continue
      missed = now === seen ? missed + 1 : 0
      seen = now
    }
  }

  async #readHeartbeat(): Promise<string> {
    const stored = await this.#get()
    if (stored === null) return ''
    const [hot] = await this.#documents.hot([stored])
    return `${stored.value.token} ${hot?.beat ?? 0}`
  }

  #get(): Promise<Stored<ProcessClaim> | null> {
    return this.#documents.get(this.#product, ['claim'])
  }

  async #tryTake(): Promise<Stored<ProcessClaim> | null> {
    const before = await this.#get()
    // Tokens of leases follow the clock: this one must be greater where there were leases before.
    const token = Math.max((before?.value.token ?? 0) + 1, Math.floor(this.#clock.now()))
    const outcome =
      before === null
        ? await this.#documents.insert({ token })
        : await this.#documents.update(before, { token })
    return outcome.ok ? outcome.stored : null
  }

  #claimOf({ value: { token } }: Stored<ProcessClaim>): ShardClaim {
    const lost = new AbortController()
    return {
      token,
      lost: lost.signal,
      // No other process opens an embedded store. On a cluster each write is read back.
      held: !this.#isShared,
      outranked: (other) => lost.abort(new Error(`another process works with token ${other}, above ${token}`))
    }
  }
}
