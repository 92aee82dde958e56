import type { SlotRow } from '../../market/rows.ts'
import type { CacheTag, RefreshTrigger } from './invalidation-index.ts'
import type { Slices } from '../work/slices.ts'
import type { ListFormat } from './list/list-format.ts'
import type { Rendering } from './rendering.ts'
import type { SlicesOf } from './in-turn.ts'

/** The answer of a cached endpoint, with the conditions under which it stays valid. */
export interface Answer<Body> {
  /**
   * The body. If a field depends only on the head's block time (an age), this is a function that renders the body for a
   * time in Unix seconds from rows already read.
   */
  readonly body: Body | ((headTime: number) => Body)
  readonly dependsOn: readonly CacheTag[]
  /** `minute` for rolling windows and other values of the head's minute; `block` for values that each block changes. */
  readonly changesWith: RefreshTrigger
  /**
   * Tells whether other state in memory on which the answer depends is unchanged. Such state can change without a
   * block.
   */
  readonly isCurrent?: () => boolean
  /** TTL in milliseconds, for values that change without a block; absent for no limit. */
  readonly maxAgeMs?: number
  /** Whether the rows of the body have only the fields that the request selects, in its order. Absent: they are selected later. */
  readonly isSelected?: boolean
  /** Renders the body in another form than JSON. Never given with a function as the body. */
  readonly render?: ((body: Body, slices: Slices) => Promise<Rendering>) | undefined
}

/** Tells whether a body is rendered anew for each block time of the head. */
export const isRenderer = <Body>(body: Answer<Body>['body']): body is (headTime: number) => Body =>
  typeof body === 'function'

/**
 * Returns the cache key of an answer to a tenant, in the format that the `Accept` header selects. A URL begins with a slash
 * and contains no space, so keys of two tenants or formats cannot collide.
 */
export function answerKey(url: string, tenant: string, accepted: ListFormat = 'json'): string {
  return accepted === 'json' ? `${url} ${tenant}` : `${accepted} ${url} ${tenant}`
}

/**
 * The conditions under which an answer is made: the head noted before any read, and the slices in which it maps lists of
 * rows. A signal aborts at the deadline, and for an answer that is not shared also when its client leaves.
 */
export interface Making {
  readonly head: SlotRow | null
  readonly signal: AbortSignal
  readonly slices: Slices
}

/** How long an answer may take, and the slices in which it is made. */
export interface MakingLimits {
  readonly deadlineMs?: number
  readonly slicesOf?: SlicesOf
  /** Aborts when the client leaves, for an answer that is not shared. */
  readonly left?: AbortSignal
}
