import type { Clock } from '../ports.ts'
import type { TransactionNode } from './ports.ts'

/** Milliseconds after which the height is requested again: two to three blocks. */
const REFRESH_MS = 1_000
/** Milliseconds for which a height counts as current: five blocks, a small share of the 150 of a blockhash's lifetime. */
const FRESH_MS = 2_000
/** Timeout of a request in milliseconds. A later answer would not count. */
const TIMEOUT_MS = FRESH_MS

/** The newest confirmed height that nodes reported, for callers that must not wait for a node. */
export class NewestHeight {
  /** Has the connections to nodes, which may be replaced. */
  readonly #nodes: { readonly node: Pick<TransactionNode, 'height'> }
  readonly #clock: Pick<Clock, 'now'>
  #known: { readonly slot: number; readonly height: number; readonly atMs: number } | null = null
  #isRequesting = false

  constructor(nodes: { readonly node: Pick<TransactionNode, 'height'> }, clock: Pick<Clock, 'now'>) {
    this.#nodes = nodes
    this.#clock = clock
  }

  /** Returns the height if a node reported it within the last two seconds, else null. Refreshes it in the background. */
  read(): { readonly slot: number; readonly height: number } | null {
    const ageMs = this.#clock.now() - (this.#known?.atMs ?? -Infinity)
    if (ageMs >= REFRESH_MS || ageMs < 0) void this.#refresh()
    return ageMs >= 0 && ageMs <= FRESH_MS ? this.#known : null
  }

  async #refresh(): Promise<void> {
    if (this.#isRequesting) return
    this.#isRequesting = true
    try {
      const { slot, height } = await this.#nodes.node.height(AbortSignal.timeout(TIMEOUT_MS))
      this.#known = { slot, height, atMs: this.#clock.now() }
    } catch {
      // The caller proceeds without the height.
    } finally {
      this.#isRequesting = false
    }
  }
}
