/** Ranks of sends, in the order in which they are served. Reads of the block engine's statuses stand between repeats. */
export const SEND_RANKS = ['first', 'bundle', 'read', 'resend'] as const
export type SendRank = (typeof SEND_RANKS)[number]

/** The place of a send among the others that wait for the same limited path. */
export interface SendTurn {
  readonly tenant: string
  /** `first`: the first try of a transaction or bundle. `bundle`: a later try of a bundle. `resend`: one of a transaction. */
  readonly rank: SendRank
}

/** The turn of sends that belong to no tenant. */
export const OWN_TURN: SendTurn = { tenant: '', rank: 'first' }

/**
 * A queue of sends of several tenants. A lower rank is served only when no higher one waits. Within a rank tenants take
 * turns: while a send waits with n - 1 earlier ones of its tenant and rank, each other tenant gets at most n sends of this
 * rank through.
 */
export class FairQueue<Item> {
  /** For each rank the waiting items by tenant; the tenant that is served next is first. */
  readonly #ranks: readonly Map<string, Set<Item>>[] = SEND_RANKS.map(() => new Map<string, Set<Item>>())
  readonly #turns = new Map<Item, SendTurn>()

  get size(): number {
    return this.#turns.size
  }

  /** Appends an item behind those of its tenant and rank. An item that waits already keeps its place. */
  push(item: Item, turn: SendTurn): void {
    if (this.#turns.has(item)) return
    this.#turns.set(item, turn)
    const tenants = this.#tenantsOf(turn)
    const items = tenants.get(turn.tenant)
    if (items === undefined) tenants.set(turn.tenant, new Set([item]))
    else items.add(item)
  }

  /** Removes and returns the first item in the order of service that `isReady` accepts; undefined without one. */
  take(isReady: (item: Item, turn: SendTurn) => boolean = () => true): Item | undefined {
    for (const tenants of this.#ranks)
      for (const [tenant, items] of tenants)
        for (const item of items) {
          if (!isReady(item, this.#turns.get(item)!)) continue
          this.delete(item)
          // The tenant is served again after all others.
          if (tenants.delete(tenant) && items.size > 0) tenants.set(tenant, items)
          return item
        }
    return undefined
  }

  /** Removes and returns the newest item of the tenant with the most items in the lowest rank; undefined if it is empty. */
  evict(): Item | undefined {
    const tenants = this.#ranks.findLast(({ size }) => size > 0)
    if (tenants === undefined) return undefined
    const longest = [...tenants.values()].reduce((most, items) => (items.size > most.size ? items : most))
    const item = [...longest].at(-1)!
    this.delete(item)
    return item
  }

  /** Removes an item; false if it does not wait. */
  delete(item: Item): boolean {
    const turn = this.#turns.get(item)
    if (turn === undefined) return false
    this.#turns.delete(item)
    const tenants = this.#tenantsOf(turn)
    const items = tenants.get(turn.tenant)!
    items.delete(item)
    if (items.size === 0) tenants.delete(turn.tenant)
    return true
  }

  #tenantsOf({ rank }: SendTurn): Map<string, Set<Item>> {
    return this.#ranks[SEND_RANKS.indexOf(rank)]!
  }
}
