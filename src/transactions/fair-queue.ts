/** Ranks of sends, in the order in which they are served. Reads of the block engine's statuses come between retries. */
export const SEND_RANKS = ['first', 'bundle', 'read', 'resend'] as const
export type SendRank = (typeof SEND_RANKS)[number]

/** The place of a send in the queue for a limited path. */
export interface SendTurn {
  readonly tenant: string
  /**
   * `first`: the first attempt of a transaction or bundle. `bundle`: a retry of a bundle. `resend`: a retry of a
   * transaction.
   */
  readonly rank: SendRank
}

/** A turn whose send may have become unnecessary while it was queued. */
export interface RevocableTurn extends SendTurn {
  /** Called once, when the turn has come, before the send. If it returns false, the send is dropped. */
  readonly begin?: () => boolean | Promise<boolean>
}

/** The turn of requests that this process makes for no tenant, such as fetching the tip accounts. */
export const OWN_TURN: SendTurn = { tenant: '', rank: 'first' }

/** The items of one tenant in one rank. */
interface Share<Item> {
  readonly items: Set<Item>
  /** Number of the round in which its next item is due. */
  round: number
  /** Number of items of the rank that had been served when this share was last served, inclusive; 0 before. */
  servedAs: number
}

/** The items of one rank. */
interface Rank<Item> {
  /** By tenant. Shares without items remain until the round in which they were served ends, or the rank is empty. */
  readonly shares: Map<string, Share<Item>>
  /** The round of the item that was served last. */
  round: number
  served: number
  size: number
}

/**
 * A queue of sends of several tenants. A lower rank is served only when no higher rank has items. Within a rank each tenant
 * gets one item a round (start-time fair queueing). A tenant that was idle joins the current round, before tenants that were
 * already served in it. So while an item waits with n - 1 earlier ones of its tenant and rank, each other tenant gets at
 * most n items of this rank through.
 */
export class FairQueue<Item> {
  readonly #ranks: readonly Rank<Item>[] = SEND_RANKS.map(() => ({
    shares: new Map<string, Share<Item>>(),
    round: 0,
    served: 0,
    size: 0
  }))
  readonly #turns = new Map<Item, SendTurn>()

  get size(): number {
    return this.#turns.size
  }

  /** Appends an item behind those of its tenant and rank. A queued item keeps its place. */
  push(item: Item, turn: SendTurn): void {
    if (this.#turns.has(item)) return
    this.#turns.set(item, turn)
    const rank = this.#rankOf(turn)
    const share = rank.shares.get(turn.tenant) ?? { items: new Set<Item>(), round: rank.round, servedAs: 0 }
    rank.shares.set(turn.tenant, share)
    share.round = Math.max(share.round, rank.round)
    share.items.add(item)
    rank.size++
  }

  /** Puts an item before those of its tenant and rank: its turn had come, but its path has failed. */
  restore(item: Item, turn: SendTurn): void {
    this.push(item, turn)
    const { items } = this.#rankOf(turn).shares.get(turn.tenant)!
    const others = [...items].filter((each) => each !== item)
    items.clear()
    for (const each of [item, ...others]) items.add(each)
  }

  /**
   * Removes and returns the first item in the order of service that `isReady` accepts; undefined if there is no such
   * item.
   */
  take(isReady: (item: Item, turn: SendTurn) => boolean = () => true): Item | undefined {
    for (const rank of this.#ranks) {
      const passed = new Set<Share<Item>>()
      for (let share = nextOf(rank, passed); share !== undefined; share = nextOf(rank, passed)) {
        for (const item of share.items) {
          if (!isReady(item, this.#turns.get(item)!)) continue
          rank.round = Math.max(rank.round, share.round)
          share.round++
          share.servedAs = ++rank.served
          this.delete(item)
          return item
        }
        passed.add(share)
      }
    }
    return undefined
  }

  /** Returns the first item in the order of service without removing it; undefined if the queue is empty. */
  peek(): Item | undefined {
    const rank = this.#ranks.find(({ size }) => size > 0)
    return rank && nextOf(rank, new Set())?.items.values().next().value
  }

  /**
   * Removes and returns the newest item of the tenant with the most items in the lowest rank; undefined if the queue
   * is empty.
   */
  evict(): Item | undefined {
    const rank = this.#ranks.findLast(({ size }) => size > 0)
    if (rank === undefined) return undefined
    const shares = [...rank.shares.values()]
    const longest = shares.reduce((most, share) => (share.items.size > most.items.size ? share : most))
    const item = [...longest.items].at(-1)!
    this.delete(item)
    return item
  }

  /** Removes an item; false if it is not queued. */
  delete(item: Item): boolean {
    const turn = this.#turns.get(item)
    if (turn === undefined) return false
    this.#turns.delete(item)
    const rank = this.#rankOf(turn)
    const share = rank.shares.get(turn.tenant)!
    share.items.delete(item)
    if (--rank.size === 0) {
      rank.shares.clear()
      rank.round = rank.served = 0
    } else if (share.items.size === 0 && share.round <= rank.round) rank.shares.delete(turn.tenant)
    return true
  }

  #rankOf({ rank }: SendTurn): Rank<Item> {
    return this.#ranks[SEND_RANKS.indexOf(rank)]!
  }
}

/** Returns the share that is served next, excluding `passed`; undefined if no other share has items. */
function nextOf<Item>({ shares }: Rank<Item>, passed: ReadonlySet<Share<Item>>): Share<Item> | undefined {
  let next: Share<Item> | undefined
  for (const share of shares.values()) {
    if (share.items.size === 0 || passed.has(share)) continue
    const isEarlier =
      next === undefined ||
      share.round < next.round ||
      (share.round === next.round && share.servedAs < next.servedAs)
    if (isEarlier) next = share
  }
  return next
}
