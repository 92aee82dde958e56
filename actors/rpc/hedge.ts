import type { Clock } from '../../src/ports.ts'
import { endPieces } from '../../src/node/ended-pieces.ts'
import { HedgeBudget } from '../../src/rpc/hedge-budget.ts'
import type { NodeOutcome } from './node-request.ts'

/** One request to two nodes. Each is called at most once, with a signal that ends it. */
export interface HedgedRequest {
  readonly first: (signal: AbortSignal) => Promise<NodeOutcome>
  readonly second: (signal: AbortSignal) => Promise<NodeOutcome>
}

/** Sends a request to a second node if the first one is slow, within a budget. */
export class Hedge {
  readonly #clock: Clock
  readonly #budget = new HedgeBudget()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves with the better outcome, and ends the other request. `hedgeMs` is the time after which a node is slow. */
  async request(
    hedgeMs: number,
    signal: AbortSignal,
    { first: begin, second }: HedgedRequest
  ): Promise<NodeOutcome> {
    this.#budget.earn()
    const ends = [new AbortController(), new AbortController()] as const
    const both = (end: AbortController): AbortSignal => AbortSignal.any([signal, end.signal])
    const first = begin(both(ends[0]))
    const isSlow = await this.#isSlower(first, hedgeMs)
    if (!isSlow || !this.#budget.take()) return first
    const other = second(both(ends[1]))
    const [winner, loser] = await firstGood(first, other)
    ends[winner === first ? 1 : 0].abort(new Error('another node has answered'))
    loser.then(
      ({ answer }) => void (answer.rest !== null && endPieces(answer.rest)),
      () => undefined
    )
    return winner
  }

  #isSlower(first: Promise<unknown>, ms: number): Promise<boolean> {
    const clock = this.#clock
    return new Promise((resolve) => {
      const timer = clock.setTimeout(() => resolve(true), ms)
      const settled = (): void => {
        clock.clearTimeout(timer)
        resolve(false)
      }
      first.then(settled, settled)
    })
  }
}

/**
 * Resolves with two outcomes, the better one first: the first to arrive that a client may get. If no outcome may be
 * delivered, one that is no fault comes first.
 */
async function firstGood(
  a: Promise<NodeOutcome>,
  b: Promise<NodeOutcome>
): Promise<readonly [winner: Promise<NodeOutcome>, loser: Promise<NodeOutcome>]> {
  const verdict = (outcome: Promise<NodeOutcome>): Promise<string | null> =>
    outcome.then(
      (each) => each.verdict,
      () => null
    )
  const [first, other, said] = await Promise.race([
    verdict(a).then((each) => [a, b, each] as const),
    verdict(b).then((each) => [b, a, each] as const)
  ])
  if (said === 'deliver') return [first, other]
  const next = await verdict(other)
  return next === 'deliver' || said === null ? [other, first] : [first, other]
}
