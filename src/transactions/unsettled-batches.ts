/** A read of a tenant's changes, and the lowest number of a batch that was unsettled at any time during it. */
interface Read {
  readonly tenant: string
  below: number
}

/**
 * The batches of changes that this process is storing, at most one for each tenant. The cursors of a batch may change
 * until it is published, so readers of this process skip it. They receive its changes when it is published, or with
 * their next read.
 */
export class UnsettledBatches {
  readonly #numbers = new Map<string, number>()
  readonly #reads = new Set<Read>()

  /** To be called before a batch is stored. */
  begin(tenant: string, number: number): void {
    this.#numbers.set(tenant, number)
    for (const read of this.#reads) if (read.tenant === tenant) read.below = Math.min(read.below, number)
  }

  /** To be called when the current batch is published or abandoned. */
  end(tenant: string): void {
    this.#numbers.delete(tenant)
  }

  /** Reads changes of a tenant. Batches with a number below `settledBelow` were settled before they were read. */
  async during<T>(
    tenant: string,
    ask: () => Promise<T>
  ): Promise<{ readonly found: T; readonly settledBelow: number }> {
    const read: Read = { tenant, below: this.#numbers.get(tenant) ?? Infinity }
    this.#reads.add(read)
    try {
      const found = await ask()
      return { found, settledBelow: read.below }
    } finally {
      this.#reads.delete(read)
    }
  }
}
