import { ERRORS, LostClaim, ServiceError } from '../../../src/kernel/errors.ts'
import { sleep, type Clock } from '../../../src/ports.ts'
import { assertFollows, isStored } from '../../../storage/block-order.ts'
import type { BlockCommit, Outage, Storage } from '../../../storage/port.ts'
import { MemoryDocuments } from '../webhooks/memory-documents.ts'

/** Milliseconds until a read of an unavailable store fails, and duration of a commit. */
const PATIENCE_MS = 400
const COMMIT_MS = 4

/** Outcome of a commit, for assertions. */
export interface Attempt {
  readonly slot: number
  readonly outcome: 'written' | 'refused' | 'stored' | 'abandoned'
}

/** A store of blocks shared by several processes. It can be unavailable, and one process at a time may write. */
export class FakeCluster {
  readonly commits: BlockCommit[] = []
  readonly attempts: Attempt[] = []
  /** Number of newest blocks that the journal holds. */
  journalKeeps = Infinity
  /** Number of commits that get no answer, while all other calls do. */
  unanswered = 0
  /** Number of calls that were refused, or answered with the end of the journal. */
  journalGaps = 0
  readonly clock: Clock
  /** Documents of all processes. They answer at once, also while blocks do not. */
  readonly #documents = new MemoryDocuments()
  #epoch = 0
  #token = -1
  #back: PromiseWithResolvers<void> | null = null

  constructor(clock: Clock) {
    this.clock = clock
  }

  get slots(): number[] {
    return this.commits.map(({ slot }) => slot.slot)
  }

  goAway(): void {
    this.#back ??= Promise.withResolvers()
  }

  comeBack(): void {
    this.#back?.resolve()
    this.#back = null
  }

  /** Opens the store as one process does. */
  open(): Storage {
    const { clock } = this
    let epoch = 0
    let known = 0
    let outage: Outage | null = null
    const closing = new AbortController()
    const fail = (): ServiceError => {
      outage ??= { sinceMs: clock.now(), detail: 'too few replicas are up' }
      return new ServiceError(
        ERRORS.STORAGE_UNAVAILABLE,
        'the store does not answer: too few replicas are up'
      )
    }
    const refuse = (outrankedBy: number | null = null): LostClaim =>
      new LostClaim(ERRORS.STORAGE_UNAVAILABLE, 'another process writes now', { outrankedBy })
    const read = async <T>(answer: () => T): Promise<T> => {
      if (closing.signal.aborted) throw new ServiceError(ERRORS.STORAGE_UNAVAILABLE, 'the store is closed')
      await sleep(clock, 1, closing.signal)
      if (this.#back !== null) await sleep(clock, PATIENCE_MS, closing.signal)
      if (this.#back !== null) throw fail()
      outage = null
      return answer()
    }
    const nothing = { get: () => read(() => null), ofMint: () => read(() => []) }
    let accepted: Promise<unknown> = Promise.resolve()
    const inTurn = <T>(run: () => Promise<T>): Promise<T> => {
      const turn = accepted.then(run)
      accepted = turn.catch(() => undefined)
      return turn
    }
    const commit = async (block: BlockCommit, after: number | undefined): Promise<boolean> => {
      const end = (outcome: Attempt['outcome']): void => {
        outage = null
        this.attempts.push({ slot: block.slot.slot, outcome })
      }
      await sleep(clock, COMMIT_MS, closing.signal)
      while (this.#back !== null && !closing.signal.aborted) {
        fail()
        await Promise.race([this.#back.promise, sleep(clock, 1_000, closing.signal)])
      }
      if (closing.signal.aborted) {
        end('abandoned')
        throw new ServiceError(ERRORS.STORAGE_UNAVAILABLE, 'the store is closed')
      }
      if (this.unanswered > 0) {
        this.unanswered--
        end('abandoned')
        throw new ServiceError(ERRORS.STORAGE_UNAVAILABLE, 'the store does not answer: the time is over')
      }
      if (epoch !== this.#epoch) {
        end('refused')
        throw refuse()
      }
      const head = this.commits.at(-1)?.slot ?? null
      if (isStored(block, head)) {
        end('stored')
        return false
      }
      assertFollows(after, head)
      this.commits.push(block)
      known = this.commits.length
      end('written')
      await sleep(clock, 1, closing.signal)
      return true
    }
    const storage = {
      documents: this.#documents,
      history: { after: async () => [], forget: async () => undefined, amendments: async () => 0 },
      blocks: {
        claim: (token: number | null) =>
          inTurn(() =>
            read(() => {
              if (token !== null && token < this.#token) throw refuse(this.#token)
              this.#token = token ?? this.#token + 1
              epoch = ++this.#epoch
              known = this.commits.length
              return this.commits.at(-1)?.slot ?? null
            })
          ),
        confirmClaim: () =>
          inTurn(() =>
            read(() => {
              if (epoch !== this.#epoch) throw refuse()
            })
          ),
        commit: (block: BlockCommit, _kept: unknown, after?: number) => inTurn(() => commit(block, after)),
        head: () =>
          read(() => {
            known = this.commits.length
            return this.commits.at(-1)?.slot ?? null
          })
      },
      isShared: true,
      journal: {
        after: (slot: number | null, limit: number) =>
          read(() => {
            const at = slot === null ? -1 : this.slots.indexOf(slot)
            const reaches = at + 1 >= this.commits.length - this.journalKeeps
            if ((slot !== null && at === -1) || !reaches) {
              this.journalGaps++
              return null
            }
            return this.commits.slice(at + 1, Math.min(known, at + 1 + limit))
          })
      },
      trades: nothing,
      pairs: nothing,
      tokens: nothing,
      pools: nothing,
      curves: nothing,
      launches: nothing,
      activity: nothing,
      totals: { get: () => read(() => null) },
      solPrices: { atOrBefore: () => read(() => null) },
      get outage() {
        return outage
      },
      recordCache: { bytes: 0, bytesMax: 0 },
      accountPages: null,
      readings: null,
      questions: null,
      waitingReads: 2,
      damage: [],
      failed: new Promise<Error>(() => undefined),
      close: async () => closing.abort()
    }
    return storage as unknown as Storage
  }
}
