/** The leases that this process may hold, and those that it holds. The shards of a product have one each. */
export class LeaseBook {
  readonly #products = new Map<string, Map<string, boolean>>()

  /** Adds leases that this process may hold from now on. */
  declare(product: string, leases: Iterable<string>): void {
    const known = this.#products.get(product) ?? new Map<string, boolean>()
    for (const lease of leases) if (!known.has(lease)) known.set(lease, false)
    this.#products.set(product, known)
  }

  /** Records that the process begins or ceases to do the work of a lease. */
  set(product: string, lease: string, isHeld: boolean): void {
    this.declare(product, [])
    this.#products.get(product)!.set(lease, isHeld)
  }

  /** Every lease with its product, and whether it is held. */
  *all(): Generator<{ readonly product: string; readonly lease: string; readonly isHeld: boolean }> {
    for (const [product, leases] of this.#products)
      for (const [lease, isHeld] of leases) yield { product, lease, isHeld }
  }

  /** The names of held leases, by product; products without one are absent. */
  get held(): Readonly<Record<string, string[]>> {
    const held: Record<string, string[]> = {}
    for (const { product, lease, isHeld } of this.all()) if (isHeld) (held[product] ??= []).push(lease)
    return held
  }
}
