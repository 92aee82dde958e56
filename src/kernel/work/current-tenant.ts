import { AsyncLocalStorage } from 'node:async_hooks'

const current = new AsyncLocalStorage<string>()

/** Runs work for a tenant: `currentTenant` returns its name in the work's asynchronous context. */
export const forTenant = <T>(tenant: string, work: () => T): T => current.run(tenant, work)

/** The tenant whose work runs; null for work without one, such as ingest. */
export const currentTenant = (): string | null => current.getStore() ?? null
