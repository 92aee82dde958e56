import type { RateUse, WorkCounter } from '../../storage/cluster/coordination.ts'
import type { WorkTally } from './work-tally.ts'
import type { Caller } from './caller.ts'

/**
 * The work that keys and tenants may do in a minute. A call is admitted while its key and its tenant have units left, and
 * is charged once its cost is known. A tenant's quota is the calling key's, and at least the default: a second key gives a
 * tenant no second budget.
 */
export class WorkBudget {
  readonly #counter: WorkCounter
  readonly #tally: WorkTally | undefined

  constructor(counter: WorkCounter, tally?: WorkTally) {
    this.#counter = counter
    this.#tally = tally
  }

  /** Returns what is left to a key: the smaller of the key's remainder and its tenant's. */
  look({ workNames, workPerMinute, tenantWorkPerMinute }: Caller, nowMs: number): RateUse {
    const ofKey = this.#counter.look(workNames.key, workPerMinute, nowMs)
    const ofTenant = this.#counter.look(workNames.tenant, tenantWorkPerMinute, nowMs)
    if (ofKey.allowed !== ofTenant.allowed) return ofKey.allowed ? ofTenant : ofKey
    if (!ofKey.allowed) return ofKey.resetAt >= ofTenant.resetAt ? ofKey : ofTenant
    return ofKey.left <= ofTenant.left ? ofKey : ofTenant
  }

  /** Adds work that was done for a key. */
  charge(
    { workNames, tenant, workPerMinute, tenantWorkPerMinute }: Caller,
    units: number,
    nowMs: number
  ): void {
    this.#counter.charge(workNames.key, workPerMinute, units, nowMs)
    this.#counter.charge(workNames.tenant, tenantWorkPerMinute, units, nowMs)
    this.#tally?.used(tenant, units)
  }

  /** Returns what is left to a key. If nothing is left, the call is refused, and counted as refused. */
  admit(caller: Caller, nowMs: number): RateUse {
    const use = this.look(caller, nowMs)
    if (!use.allowed) this.#tally?.refused(caller.tenant)
    return use
  }
}
