/** Counts units of work and refused calls by tenant. A labelled counter would cost a cached answer a microsecond. */
export class WorkTally {
  readonly #units = new Map<string, number>()
  readonly #refused = new Map<string, number>()

  /** Units charged to each tenant. */
  get units(): ReadonlyMap<string, number> {
    return this.#units
  }

  /** Refused calls, elements and channels of each tenant. */
  get refusals(): ReadonlyMap<string, number> {
    return this.#refused
  }

  /** Counts units of a tenant. */
  used(tenant: string, units: number): void {
    this.#units.set(tenant, (this.#units.get(tenant) ?? 0) + units)
  }

  /** Counts a refusal. */
  refused(tenant: string): void {
    this.#refused.set(tenant, (this.#refused.get(tenant) ?? 0) + 1)
  }
}
