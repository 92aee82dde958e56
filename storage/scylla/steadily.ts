import type { ScyllaBase } from './base.ts'

/** Chosen: even where blocks are committed as fast as it can be done, a query is several times faster than one of them. */
const ATTEMPTS_MAX = 5

/**
 * Runs a query that takes several reads until all of them have seen the same blocks: each goes by what is visible when
 * it begins, and a block that becomes visible between them would be seen in part.
 */
export async function steadily<T>({ visibility }: ScyllaBase, query: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const { epoch, lastCommit } = visibility.snapshot
    const answer = await query()
    const now = visibility.snapshot
    if ((now.epoch === epoch && now.lastCommit === lastCommit) || attempt === ATTEMPTS_MAX) return answer
  }
}
