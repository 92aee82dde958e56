import { pubkeyToBase58, type Pubkey } from '../chain/pubkey.ts'
import type { MintFacts } from '../accounts/mint-facts.ts'
import { ERRORS, ServiceError } from '../kernel/errors.ts'
import { sleep, type Clock } from '../ports.ts'
import {
  BASE_SLOT,
  inRankKey,
  rankKey,
  unpackBalance,
  unpackCount,
  unpackOwner,
  unpackSlotSums,
  type HeldBalance,
  type OwnerBalance,
  type SlotSums
} from './row-bytes.ts'
import type { Storage } from '../../storage/port.ts'
import {
  HOLDER_MINTS_PARTITION,
  holderMintsIn,
  LIST_LAYOUT,
  NO_LIST,
  holderProgressIn,
  type HolderListState,
  type HolderMint,
  type HolderMints,
  type HolderProgress
} from './holder-mint.ts'
import { SUMS_KEY } from './list-rows.ts'
import { ListReads, type ListRead } from './list-reads.ts'

/** Milliseconds after which a request is recorded again, so that the list is not dropped. */
const REQUEST_RENEWAL_MS = 600_000
/** Poll interval of a list that is being loaded, in milliseconds. */
const POLL_INTERVAL_MS = 100
/** Maximum new lists per minute that clients of this process may request. Each is a scan of the node. */
const NEW_LISTS_MAX = 60
const MINUTE_MS = 60_000

/** A holder of a list, the largest first. */
export interface Holder {
  readonly owner: Pubkey
  /** The token account, in a list of token accounts. */
  readonly account: Pubkey | null
  readonly amount: bigint
  readonly accounts: number
}

/** A page of holders that is read in several steps; the first holders may be skipped. */
export interface HolderRange {
  readonly slot: number
  /** The page begins after this holder. */
  readonly after?: Pick<Holder, 'owner' | 'account' | 'amount'> | undefined
  readonly offset: number
  readonly limit: number
  /** Lets other work run between two reads. */
  readonly pause: () => Promise<void>
}

/** Rows of a list that are read before other work runs: 1,000 take 2 ms. */
const READ_AT_ONCE = 1_000

export interface HolderPage {
  readonly holders: readonly Holder[]
  readonly hasMore: boolean
}

/** A list at a slot. */
export interface HolderView {
  readonly mint: Pubkey
  readonly about: HolderMint
  readonly state: HolderListState
  readonly slot: number
  /** The oldest slot that can be read. */
  readonly oldestSlot: number
  /** Unix milliseconds at which `slot` was complete. */
  readonly atMs: number
  /** How often blocks were rolled back before. */
  readonly rollbacks: number
}

/** The state of a mint's list, with a view if it can be read. */
export type HolderStatus =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'loading'; readonly state: HolderListState }
  | { readonly kind: 'view'; readonly view: HolderView }

/** The stored holder lists, for readers. Every method rejects with the store's error. */
export class HolderLists {
  readonly #storage: Pick<Storage, 'documents' | 'holders'>
  readonly #clock: Clock
  readonly #onRequest: () => void
  readonly #documents: HolderMints
  readonly #progress: ReturnType<typeof holderProgressIn>
  readonly #reads: ListReads
  #minute = 0
  #begun = 0

  /** `onRequest` is called at the first request for a mint. */
  constructor(storage: Pick<Storage, 'documents' | 'holders'>, clock: Clock, onRequest: () => void) {
    this.#storage = storage
    this.#clock = clock
    this.#onRequest = onRequest
    this.#documents = holderMintsIn(storage.documents)
    this.#progress = holderProgressIn(storage.documents)
    this.#reads = new ListReads(storage.holders)
  }

  async status(mint: Pubkey): Promise<HolderStatus> {
    const stored = await this.#documents.get(HOLDER_MINTS_PARTITION, [pubkeyToBase58(mint)])
    if (stored === null) return { kind: 'unknown' }
    const [progress, [state]] = await Promise.all([this.#progress.get(), this.#documents.hot([stored])])
    const now = this.#clock.now()
    if (now - stored.value.askedAtMs > REQUEST_RENEWAL_MS)
      await this.#documents.change(stored, (value) => ({ ...value, askedAtMs: now }))
    return viewOf(mint, stored.value, state ?? NO_LIST, progress)
  }

  /** Requests the list of a mint. Returns whether the request is new. Rejects with INDEX_LOADING above `NEW_LISTS_MAX`. */
  async ask({ mint, account }: MintFacts): Promise<boolean> {
    const now = this.#clock.now()
    const minute = Math.floor(now / MINUTE_MS)
    if (minute !== this.#minute) this.#begun = 0
    this.#minute = minute
    if (++this.#begun > NEW_LISTS_MAX)
      throw new ServiceError(
        ERRORS.INDEX_LOADING,
        'too many holder lists are being read for the first time; retry in a minute'
      )
    const { decimals, tokenProgram } = account
    const asked = { mint: pubkeyToBase58(mint), decimals, tokenProgram, askedAtMs: now }
    const { ok } = await this.#documents.insert(asked)
    // Another request was first, and begins the only reading.
    if (!ok && minute === this.#minute) this.#begun--
    this.#onRequest()
    return ok
  }

  /** Waits until a list can be read, or `end` aborts. */
  async readable(mint: Pubkey, end: AbortSignal): Promise<HolderStatus> {
    for (;;) {
      const status = await this.status(mint)
      if (status.kind === 'view' || end.aborted) return status
      // After a fault, the node is retried later than a client waits.
      if (status.kind === 'loading' && status.state.fault !== null) return status
      await sleep(this.#clock, POLL_INTERVAL_MS, end)
    }
  }

  /** Reads the sums of a list, and the slot of the last block that changed them; null if its rows were dropped. */
  async sums(view: HolderView): Promise<SlotSums | null> {
    const overlay = await this.#reads.overlay(readOf(view))
    if (overlay.sums !== null) return overlay.sums
    const { mint, state } = view
    const [row] = await this.#storage.holders.at({ mint, reading: state.reading }, 'sums', BASE_SLOT, [
      SUMS_KEY
    ])
    return row == null ? null : unpackSlotSums(row.value)
  }

  /** Reads a page of owners or token accounts, the largest amount first; equal amounts are ordered by address. */
  async page(
    view: HolderView,
    by: 'owner' | 'token_account',
    query: {
      readonly slot: number
      readonly after?: Pick<Holder, 'owner' | 'account' | 'amount'> | undefined
      readonly limit: number
    }
  ): Promise<HolderPage> {
    const kind = by === 'owner' ? 'owner-rank' : 'account-rank'
    const { after, slot, limit } = query
    const { rows, hasMore } = await this.#reads.ranked(readOf({ ...view, slot }), kind, {
      limit,
      after: after === undefined ? undefined : rankKey(after.amount, after.account ?? after.owner)
    })
    const holders = rows.map(({ key, value }): Holder => {
      const { amount, address } = inRankKey(key)
      return by === 'owner'
        ? { owner: address, account: null, amount, accounts: unpackCount(value) }
        : { owner: value, account: address, amount, accounts: 1 }
    })
    return { holders, hasMore }
  }

  /** Reads a page as `page` does, without its first `offset` holders. */
  async pageFrom(
    view: HolderView,
    by: 'owner' | 'token_account',
    { slot, after, offset, limit, pause }: HolderRange
  ): Promise<HolderPage> {
    const holders: Holder[] = []
    let last = after
    for (let left = offset + limit; ;) {
      const read = await this.page(view, by, { slot, after: last, limit: Math.min(left, READ_AT_ONCE) })
      const skipped = Math.max(0, offset - (offset + limit - left))
      holders.push(...read.holders.slice(skipped))
      left -= read.holders.length
      last = read.holders.at(-1)
      if (left <= 0 || !read.hasMore || last === undefined) return { holders, hasMore: read.hasMore }
      await pause()
    }
  }

  /** Reads the amounts of owners, in the given order; null for an owner without tokens. */
  async owners(view: HolderView, owners: readonly Pubkey[]): Promise<(OwnerBalance | null)[]> {
    const overlay = await this.#reads.overlay(readOf(view))
    const unchanged = owners.filter((owner) => overlay.owner(owner) === undefined)
    const rows = await this.#at(view, 'owner', unchanged)
    let next = 0
    return owners.map((owner) => {
      const changed = overlay.owner(owner)
      if (changed !== undefined) return changed
      const row = rows[next++] ?? null
      return row && unpackOwner(row.value)
    })
  }

  /** Reads token accounts, in the given order; null for an account without tokens. */
  async accounts(view: HolderView, accounts: readonly Pubkey[]): Promise<(HeldBalance | null)[]> {
    const overlay = await this.#reads.overlay(readOf(view))
    const unchanged = accounts.filter((account) => overlay.account(account) === undefined)
    const rows = await this.#at(view, 'account', unchanged)
    let next = 0
    return accounts.map((account) => {
      const changed = overlay.account(account)
      if (changed !== undefined) return changed
      const row = rows[next++] ?? null
      return row && unpackBalance(row.value)
    })
  }

  async #at({ mint, state }: HolderView, kind: 'owner' | 'account', keys: readonly Pubkey[]) {
    if (keys.length === 0) return []
    return this.#storage.holders.at({ mint, reading: state.reading }, kind, BASE_SLOT, keys)
  }
}

const readOf = ({ mint, state, slot, oldestSlot, rollbacks }: HolderView): ListRead => ({
  mint,
  reading: state.reading,
  slot,
  oldestSlot,
  rollbacks
})

function viewOf(
  mint: Pubkey,
  about: HolderMint,
  state: HolderListState,
  progress: HolderProgress
): HolderStatus {
  const { fromSlot } = state
  const { rollbacks } = progress
  if (fromSlot === null || state.layout !== LIST_LAYOUT) return { kind: 'loading', state }
  if (state.state === 'stale' && state.slot !== null) {
    const { slot, atMs } = state
    return { kind: 'view', view: { mint, about, state, slot, oldestSlot: slot, atMs, rollbacks } }
  }
  const { slot, oldestSlot, atMs } = progress
  // The list begins on an abandoned fork, so it cannot be read yet.
  if (slot === null || slot < fromSlot) return { kind: 'loading', state }
  const view = { mint, about, state, slot, oldestSlot: Math.max(oldestSlot, fromSlot), atMs, rollbacks }
  return { kind: 'view', view }
}
