import { ServiceError } from '../kernel/errors.ts'
import { ChangeLine } from './change-line.ts'

/** Maximum changes of one tenant that run or wait. At 30 ms a change, a disk completes as many in the 30 s of a request. */
const WAITING_MAX = 1_000

/**
 * Runs the changes of each tenant one after another. Otherwise concurrent changes of a tenant would read equal documents,
 * and all but one would fail.
 */
export class TenantChanges {
  readonly #lines = new Map<string, ChangeLine>()

  /**
   * Runs a change in turn, with the change's outcome. Rejects with CHANGE_NOT_BEGUN if too many of the tenant wait.
   */
  async run<T>(tenant: string, change: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(tenant) ?? new ChangeLine()
    if (line.size >= WAITING_MAX)
      throw new ServiceError(
        'CHANGE_NOT_BEGUN',
        `${WAITING_MAX} changes of this tenant wait for each other; send fewer at once`
      )
    this.#lines.set(tenant, line)
    try {
      return await line.run(change)
    } finally {
      if (line.size === 0 && this.#lines.get(tenant) === line) this.#lines.delete(tenant)
    }
  }
}
