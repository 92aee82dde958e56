import { setTimeout as sleep } from 'node:timers/promises'
import type { RevenueUser } from './revenue-user.ts'

/** Poll interval in milliseconds: a few polls during each slot. */
const POLL_MS = 50

/** The findings of one poll of a process. */
interface Poll {
  /** Slot of `complete_to` of the rows; -1 for null. */
  readonly end: number
  readonly ids: ReadonlySet<string>
  /** Gaps before the rows were read. Rows of late blocks may come within them. */
  readonly gaps: Awaited<ReturnType<RevenueUser['gaps']>>
}

const slotOf = (answer: Record<string, unknown>): number =>
  (answer['complete_to'] as { slot: number } | null)?.slot ?? -1

/**
 * Polls the ledger of a tenant on several processes in turn, and compares each answer with the earlier ones. After an answer
 * has stated `complete_to`, no row comes at or before it outside the gaps, and it never recedes. The chain must have no
 * forks.
 */
export class StatedEnds {
  /** Descriptions of answers that contradict an earlier one. */
  readonly broken: string[] = []
  /** Number of polls whose rows were stated up to a later slot than before. */
  advances = 0
  #last: Poll = { end: -1, ids: new Set(), gaps: [] }

  /** Polls until the signal is aborted. */
  async follow(users: readonly RevenueUser[], signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const user of users) await this.#poll(user)
      await sleep(POLL_MS)
    }
  }

  async #poll(user: RevenueUser): Promise<void> {
    const covered = slotOf(await user.ask('GET', '/v1/revenue/coverage'))
    const gaps = await user.gaps()
    const totals = await user.ask('GET', '/v1/revenue/totals?window=86400')
    const summed = slotOf(totals)
    const { rows, completeTo: end } = await user.ledger()
    const before = this.#last
    const ends = [before.end, covered, summed, end]
    if (ends.some((each, at) => at > 0 && each < ends[at - 1]!))
      this.broken.push(`the end recedes: ${ends.join(', ')}`)
    for (const { id, slot } of rows) {
      if (slot > end) this.broken.push(`${id} in slot ${slot} lies beyond the end ${end}`)
      if (slot > before.end || before.ids.has(id)) continue
      const isLate = before.gaps.some(({ from_slot, to_slot }) => slot >= from_slot && slot <= to_slot)
      if (!isLate) this.broken.push(`${id} in slot ${slot} came after the end ${before.end} was stated`)
    }
    const { events } = totals['totals'] as { events: number }
    const count = rows.filter(({ slot }) => slot <= summed).length
    // A late block adds rows between the two answers.
    const isSettled = JSON.stringify(await user.gaps()) === JSON.stringify(gaps)
    if (isSettled && events !== count)
      this.broken.push(`${events} rows are summed up to slot ${summed}, where ${count} are listed`)
    if (end > before.end) this.advances++
    this.#last = { end, ids: new Set(rows.map(({ id }) => id)), gaps }
  }
}
