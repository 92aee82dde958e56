import type { Config } from '../kernel/config/config.ts'

export type Role = Config['role'][number]

/** All roles, in the order of lists. */
export const ROLES = ['ingest', 'gateway', 'delivery'] as const satisfies readonly Role[]

/** Work that processes of a role do after a request was answered, such as the deliveries to a webhook. */
export interface Work {
  readonly name: string
  readonly role: Role
}
