import { pubkeyFromBase58, pubkeyMapKey } from '../../src/chain/pubkey.ts'
import {
  emptied,
  HOLDER_MINTS_PARTITION,
  LIST_LAYOUT,
  NO_LIST,
  type HolderListState,
  type HolderMints
} from '../../src/holders/holder-mint.ts'
import { BalancesDisagree } from '../../src/holders/loaded-list.ts'
import { NodeError } from '../../src/node/node-fault.ts'
import { isLargeReading, LIST_ACCOUNTS_MAX } from '../../storage/port.ts'
import { jittered } from '../../machines/backoff.ts'
import { sleep } from '../../src/ports.ts'
import { isOutage } from '../storage/retry.ts'
import type { MemberPolicy } from '../supervision/dynamic-supervisor.ts'
import type { HolderDeps } from './holder-deps.ts'
import { HolderList } from './holder-list.ts'
import { ListLoading, LoadingFault } from './list-loading.ts'
import type { RecentRows } from './recent-rows.ts'

/** The reason why a list is read from the node; counted by metrics. */
export type ReadingKind = 'start' | 'hole' | 'late' | 'missed' | 'fork' | 'disagreement' | 'growth'

/** Maximum readings at once: concurrent scans on a node. */
const READINGS_MAX = 2
/** A reading that fails late has stored nothing either: the next pause is longer however long it took. */
export const READING_POLICY: MemberPolicy = {
  restart: 'transient',
  intensity: { crashes: 60, periodMs: 60_000 },
  backoff: { floorMs: 1_000, ceilingMs: 30_000 },
  stableAfterMs: Infinity
}
/** Milliseconds until a list is retried after a fault that lasts. */
const LASTING_MS = 600_000

export interface ListsOfFollower {
  readonly lists: Map<string, HolderList>
  readonly recent: RecentRows
  readonly wake: () => void
  readonly slot: () => number | null
}

/** Reads holder lists from the node: those of the follower, and those of mints requested since. */
export class ListReader {
  readonly #deps: HolderDeps
  readonly #token: number
  readonly #follower: ListsOfFollower
  #passed = Promise.withResolvers<void>()
  #hasSynced = false
  readonly #permits = new Permits(READINGS_MAX)

  constructor(deps: HolderDeps, token: number, follower: ListsOfFollower) {
    this.#deps = deps
    this.#token = token
    this.#follower = follower
  }

  /**
   * Takes up requested mints, and evicts lists to make room for them. The first call only takes up the stored states. Rejects
   * with the store's error.
   */
  async sync(documents: HolderMints): Promise<void> {
    const { lists, recent } = this.#follower
    const stored = await documents.all(HOLDER_MINTS_PARTITION)
    for (const document of stored) {
      const known = lists.get(keyOf(document.value))
      if (known !== undefined) known.document = document
    }
    const added = stored.filter(({ value }) => !lists.has(keyOf(value)))
    const states = await Promise.all(added.map((document) => documents.fenceHot(document, this.#token)))
    const put = async ({ document }: HolderList, state: HolderListState): Promise<void> =>
      documents.putHot(document, this.#token, state)
    const isOurs = async ({ document }: HolderList): Promise<boolean> => {
      const [hot] = await documents.fencedHot([document])
      return hot!.token === this.#token
    }
    const begun = added.map(
      (document, i) =>
        new HolderList(document, states[i]!.hot ?? NO_LIST, this.#deps, recent, { put, isOurs })
    )
    for (const list of begun) lists.set(list.key, list)
    this.#want()
    if (this.#hasSynced) for (const list of begun) this.begin(list, 'start')
    this.#hasSynced = true
    const { mintsMax, accountsMax } = this.#deps.limits
    while (lists.size > mintsMax || (this.#accounts > accountsMax && lists.size > 1))
      await this.#evict(documents)
  }

  /** Begins to read a list, after the reading before has ended. */
  begin(list: HolderList, kind: ReadingKind): void {
    const before = list.reader
    before?.kill()
    list.loading = null
    // Its rows are replaced, under a number that an earlier try may have had.
    this.#follower.recent.forget()
    list.reader = this.#deps.readings.start(
      `reading the holders of ${list.document.value.mint}`,
      async ({ signal }) => {
        await before?.ended
        await this.#read(list, kind, signal)
      }
    )
  }

  /** Stores that a list is served as of a slot until it has been read again, and begins that reading. */
  async makeStale(list: HolderList, kind: ReadingKind, reason: string, slot: number | null): Promise<void> {
    const state: Partial<HolderListState> =
      list.state.fromSlot === null || slot === null
        ? { ...emptied(list.state), reason }
        : { state: 'stale', slot, atMs: this.#deps.clock.now(), reason }
    await list.put({ ...state, fault: null })
    this.begin(list, kind)
  }

  /** Makes loaded lists live, with the blocks that came since. `save` stores the follower's slot for readers. */
  async finish(save: () => Promise<void>): Promise<void> {
    for (const list of this.#follower.lists.values()) {
      const { loading } = list
      if (loading === null || loading.loaded === null) continue
      const { reading, fromSlot, accounts } = loading.loaded
      const before = list.state
      list.state = { ...list.state, reading, accounts }
      let fault: string | null = null
      for (const { slot, changes } of loading.takeCollected())
        if (slot > fromSlot) fault ??= await list.take(slot, changes)
      const { accounts: counted } = list.state
      list.state = before
      if (fault !== null) {
        this.begin(list, 'disagreement')
        continue
      }
      list.loading = null
      await save()
      const live = { state: 'live', reading, fromSlot, slot: null, fault: null, reason: null } as const
      const atMs = this.#deps.clock.now()
      await list.put({ ...live, accounts: counted, atMs, layout: LIST_LAYOUT })
      this.#deps.logger.info(
        `the holders of ${list.document.value.mint} are complete at slot ${fromSlot}: ${counted} accounts`
      )
      if (before.reading > 0)
        await this.#deps.storage.holders.clear({ mint: list.mint, reading: before.reading })
    }
  }

  /** Notifies waiting readings that the follower has applied the blocks up to its slot. */
  passed(): void {
    this.#passed.resolve()
    this.#passed = Promise.withResolvers<void>()
  }

  async close(): Promise<void> {
    const lists = [...this.#follower.lists.values()]
    for (const { reader } of lists) reader?.kill()
    this.passed()
    await Promise.all(lists.map(async ({ reader }) => reader?.ended))
  }

  get #accounts(): number {
    let sum = 0
    for (const { state } of this.#follower.lists.values()) sum += state.accounts
    return sum
  }

  #want(): number {
    return this.#deps.blocks.want(new Set(this.#follower.lists.keys()))
  }

  /** Reads and stores a list, unless `end` aborts. Rejects with the fault, after its pause if it lasts. */
  async #read(list: HolderList, kind: ReadingKind, end: AbortSignal): Promise<void> {
    const { clock, metrics, random } = this.#deps
    try {
      await this.#permits.run(async () => end.aborted || this.#load(list, end))
    } catch (error) {
      if (end.aborted) return
      await this.#fail(list, error)
      if (error instanceof LoadingFault && error.isLasting)
        await sleep(clock, jittered(LASTING_MS, random()), end)
      throw error
    }
    if (end.aborted) return
    metrics.readings.inc({ reason: kind })
    this.#follower.wake()
  }

  async #load(list: HolderList, end: AbortSignal): Promise<void> {
    const { feed } = this.#deps
    const reading = await list.beginReading(list.isLargeWith(list.state.accounts))
    end.throwIfAborted()
    const since = Math.max(this.#want(), feed.head?.slot ?? -1)
    const loading = new ListLoading(this.#deps, list.mint, list.document.value, reading, since)
    const abort = (): void => loading.end.abort(end.reason)
    end.addEventListener('abort', abort, { once: true })
    list.loading = loading
    try {
      await loading.run({
        reach: async (slot) => this.#reach(slot, loading),
        found: async (accounts) => {
          this.#checkRoom(list, accounts)
          if (isLargeReading(reading) || !list.isLargeWith(accounts)) return reading
          return list.beginReading(true)
        },
        stored: async (accounts) => (list.state.fromSlot === null ? list.put({ accounts }) : undefined)
      })
    } finally {
      end.removeEventListener('abort', abort)
      if (loading.loaded === null && list.loading === loading) list.loading = null
    }
  }

  async #fail(list: HolderList, error: unknown): Promise<void> {
    const { metrics, logger } = this.#deps
    metrics.failures.inc()
    const text = error instanceof Error ? error.message : String(error)
    logger.warn(`the holders of ${list.document.value.mint} cannot be read now: ${text}`)
    // The text of the node's fault may name the node.
    const fault = isOfList(error) ? text : 'the node does not answer'
    await list.put({ fault }).catch((error: unknown) => {
      if (!isOutage(error)) throw error
    })
  }

  async #reach(slot: number, loading: ListLoading): Promise<number> {
    for (;;) {
      loading.end.signal.throwIfAborted()
      const at = this.#follower.slot()
      if (at !== null && at >= slot) return at
      await this.#passed.promise
    }
  }

  #checkRoom(list: HolderList, accounts: number): void {
    const { accountsMax, listMax = LIST_ACCOUNTS_MAX } = this.#deps.limits
    if (accounts > listMax)
      throw new LoadingFault(`it has ${accounts} accounts, and a list at most ${listMax}`, true)
    if (accounts > accountsMax)
      throw new LoadingFault(
        `it has ${accounts} accounts, more than the ${accountsMax} of all lists (MILLRACE_HOLDER_ACCOUNTS)`,
        true
      )
    list.state = { ...list.state, accounts }
  }

  /** Evicts the list that was requested the longest ago. */
  async #evict(documents: HolderMints): Promise<void> {
    const { lists } = this.#follower
    const [oldest] = [...lists.values()].sort(
      (a, b) => a.document.value.askedAtMs - b.document.value.askedAtMs
    )
    if (oldest === undefined) return
    const { mint, document, state } = oldest
    lists.delete(oldest.key)
    this.#want()
    oldest.reader?.kill()
    this.passed()
    await oldest.reader?.ended
    await oldest.put(emptied(state))
    for (const reading of new Set([state.reading, state.begun]))
      await this.#deps.storage.holders.clear({ mint, reading })
    await documents.delete(document)
    this.#deps.metrics.evicted.inc()
    this.#deps.logger.info(`the holder list of ${document.value.mint} was evicted to make room for others`)
  }
}

/** Limits the number of operations that run at a time; others wait in order. */
class Permits {
  #left: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#left = count
  }

  async run<T>(work: () => Promise<T> | T): Promise<T> {
    if (this.#left > 0) this.#left--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#left++
      else next()
    }
  }
}

const keyOf = ({ mint }: { readonly mint: string }): string => pubkeyMapKey(pubkeyFromBase58(mint))

/** Tells whether a fault is of the list itself, so that its text is for clients too. */
const isOfList = (fault: unknown): boolean =>
  fault instanceof LoadingFault || fault instanceof BalancesDisagree

/** Tells whether a fault of a reading is counted, logged and served, and no fault of the process. */
export const isFaultOfReading = (fault: unknown): boolean =>
  isOfList(fault) || fault instanceof NodeError || isOutage(fault)
