import { ALL, tenantsIn, type TenantRow } from '../../storage/access-documents.ts'
import type { Stored } from '../../storage/documents.ts'
import type { Storage } from '../../storage/port.ts'
import { ServiceError } from '../kernel/errors.ts'
import { ACCESS_ERRORS } from './errors.ts'
import type { OtherProcesses } from './other-processes.ts'
import { byVersion } from './stored-versions.ts'

/** Maximum tenants: leaves ten keys for each. */
export const TENANTS_MAX = 10_000

/** Every tenant, in memory. `KeyDirectory` runs its changes and reloads one after another. */
export class TenantDirectory {
  readonly #documents: ReturnType<typeof tenantsIn>
  readonly #others: OtherProcesses | null
  /** In order of creation. */
  #byName = new Map<string, Stored<TenantRow>>()

  constructor(documents: Storage['documents'], others: OtherProcesses | null) {
    this.#documents = tenantsIn(documents)
    this.#others = others
  }

  /** All tenants, in order of creation. */
  get rows(): readonly TenantRow[] {
    return Array.from(this.#byName.values(), ({ value }) => value)
  }

  has(name: string): boolean {
    return this.#byName.has(name)
  }

  /** Reads all tenants of the store and changes nothing. */
  read(): Promise<readonly Stored<TenantRow>[]> {
    return this.#documents.all(ALL, byVersion(this.#byName.values()))
  }

  /** Replaces all tenants by those that `read` returned. */
  takeIn(tenants: readonly Stored<TenantRow>[]): void {
    this.#byName = new Map(tenants.map((tenant) => [tenant.value.name, tenant]))
  }

  /**
   * Creates a tenant, or returns the tenant that this operation has already created. Rejects with TENANT_EXISTS or
   * TENANT_LIMIT_REACHED.
   */
  async create(name: string, nowMs: number, operation: string): Promise<TenantRow> {
    const exists = new ServiceError(ACCESS_ERRORS.TENANT_EXISTS, `there is a tenant ${name} already`)
    const known = this.#byName.get(name)?.value
    if (known?.madeBy === operation) return known
    if (known !== undefined) throw exists
    if (this.#byName.size >= TENANTS_MAX) {
      throw new ServiceError(
        ACCESS_ERRORS.TENANT_LIMIT_REACHED,
        `the limit of ${TENANTS_MAX} tenants is reached`
      )
    }
    const created = await this.#documents.insert({ name, createdAtMs: nowMs, madeBy: operation })
    if (!created.ok) {
      // The answer to an earlier try of this operation may have been lost.
      this.takeIn(await this.read())
      const stored = this.#byName.get(name)?.value
      if (stored?.madeBy === operation) return stored
      throw exists
    }
    this.#byName.set(name, created.stored)
    this.#others?.publish()
    return created.stored.value
  }
}
