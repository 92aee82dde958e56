import { backoffMs, jittered } from '../../machines/backoff.ts'
import { sleep, type Clock, type Random } from '../ports.ts'
import type { AbsentBlock, ChainNode, FetchedBlock, GapReason } from './chain-node.ts'

export interface FinderOptions {
  /** Time for which a block is requested before it is reported as lost, while nodes answer. */
  readonly giveUpMs: number
  /** Called with each answer without a block. */
  readonly onAbsent?: (answer: AbsentBlock) => void
  readonly clock: Clock
  readonly random: Random
}

/** A block that was requested and not found. */
export interface LostBlock {
  readonly kind: 'lost'
  readonly slot: number
  readonly reason: GapReason
  readonly detail: string
}

export type Found = FetchedBlock | LostBlock

/** Backoff between rounds over all nodes. */
const ROUND_BACKOFF = { floorMs: 100, ceilingMs: 3_000 }

/** Counts since the start. */
export interface FinderCounts {
  fetched: number
  /** Answers of nodes without the requested block. */
  refused: number
  /** Blocks that came from another node than the first one queried. */
  elsewhere: number
}

/** Fetches the block of a slot from any node: best first, archives last, repeatedly until a deadline. */
export class BlockFinder {
  readonly counts: FinderCounts = { fetched: 0, refused: 0, elsewhere: 0 }
  readonly #nodes: readonly ChainNode[]
  readonly #options: FinderOptions

  constructor(nodes: readonly ChainNode[], options: FinderOptions) {
    this.#nodes = nodes
    this.#options = options
  }

  /** Returns the nodes that may be queried, best first. */
  usable(): ChainNode[] {
    return this.#nodes
      .filter(({ rank }) => rank !== null)
      .sort((a, b) => Number(a.isArchive) - Number(b.isArchive) || a.rank! - b.rank!)
  }

  /**
   * Fetches the block of a slot known to have one; `fits` may refuse a block of another fork. The block is lost at
   * once if all nodes report that they no longer store it, otherwise after `giveUpMs`. That time runs only while some
   * node answers, so an outage of all nodes loses nothing. Rejects only with the signal's reason.
   */
  async find(
    slot: number,
    signal: AbortSignal,
    fits: (found: FetchedBlock) => boolean = () => true,
    giveUpMs = this.#options.giveUpMs
  ): Promise<Found> {
    const { clock, random } = this.#options
    let answersSinceMs: number | null = null
    for (let round = 1; ; round++) {
      signal.throwIfAborted()
      const asked = await this.#queryAll(slot, signal, fits)
      if (asked.kind === 'block') return asked
      const { answers, said } = asked
      if (said.length === 0) answersSinceMs = null
      else {
        answersSinceMs ??= clock.now()
        const isFinal = answers === this.#nodes.length && isGone(said)
        if (isFinal || clock.now() - answersSinceMs >= giveUpMs) return lost(slot, said)
      }
      await sleep(clock, jittered(backoffMs(ROUND_BACKOFF, round), random()), signal)
    }
  }

  /** Queries every node once: returns the block, or the answers of the nodes that are up. */
  async #queryAll(
    slot: number,
    signal: AbortSignal,
    fits: (found: FetchedBlock) => boolean
  ): Promise<
    FetchedBlock | { readonly kind: 'none'; readonly answers: number; readonly said: AbsentBlock[] }
  > {
    const said: AbsentBlock[] = []
    let answers = 0
    for (const node of this.usable()) {
      const answer = await node.block(slot, signal)
      if (answer.kind === 'block' && fits(answer)) {
        this.counts.fetched++
        if (answers > 0) this.counts.elsewhere++
        return answer
      }
      this.counts.refused++
      answers++
      const absent = answer.kind === 'block' ? OTHER_FORK : answer
      this.#options.onAbsent?.(absent)
      // The answer of a node that has gone down meanwhile does not count: it must not make a block lost.
      if (absent.why !== 'unavailable' && node.rank !== null) said.push(absent)
    }
    return { kind: 'none', answers, said }
  }
}

const OTHER_FORK: AbsentBlock = {
  kind: 'absent',
  why: 'skipped',
  detail: 'a block that does not follow the last one'
}

/** Returns whether no node will ever have the block. */
function isGone(said: readonly AbsentBlock[]): boolean {
  return (
    said.every(({ why }) => why === 'pruned' || why === 'skipped') && said.some(({ why }) => why === 'pruned')
  )
}

/** Builds the outcome for a lost block; its reason is the most specific among the answers. */
function lost(slot: number, said: readonly AbsentBlock[]): LostBlock {
  const reasons = ['unsupported', 'unreadable', ...(isGone(said) ? (['pruned'] as const) : [])] as const
  for (const reason of reasons) {
    const by = said.find(({ why }) => why === reason)
    if (by !== undefined) return { kind: 'lost', slot, reason, detail: by.detail }
  }
  return { kind: 'lost', slot, reason: 'missing', detail: said[0]!.detail }
}
