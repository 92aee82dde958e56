import type { Unanswered, UpstreamAnswer, UpstreamCall } from '../../src/rpc/upstreams.ts'

/** Maximum reads in one request: as many as nodes and providers accept in a batch. Further reads form another request. */
const GATHERED_MAX = 100
/**
 * Params in the form that clients write: a text, and a commitment. A read that a node could refuse to parse is sent alone.
 */
const PLAIN_PARAMS = /^\[(?:"\w{1,200}")?,?(?:\{"commitment":"\w{1,20}"\})?\]$/

type Outcome = UpstreamAnswer | Unanswered

interface Waiting {
  readonly call: UpstreamCall
  readonly resolve: (answer: UpstreamAnswer) => void
  readonly reject: (reason: unknown) => void
}

/** Senders of reads: alone, or several as one. */
interface Upstreams {
  readonly alone: (call: UpstreamCall) => Promise<UpstreamAnswer>
  readonly together: (calls: readonly UpstreamCall[]) => Promise<readonly Outcome[]>
}

/**
 * Sends the short reads that arrive in one turn of the event loop as one request to a node, because a request costs more
 * than a read. No read waits longer than the turn, and a single read is sent alone.
 */
export class GatheredReads {
  readonly #upstreams: Upstreams
  #turn: Waiting[] = []

  constructor(upstreams: Upstreams) {
    this.#upstreams = upstreams
  }

  /** Tells whether a read may share a request: its answer is short, and no node refuses to parse it. */
  static takes({ method, params }: UpstreamCall): boolean {
    return method.isShort && (params === null || PLAIN_PARAMS.test(params))
  }

  /** Resolves with the answer. Other reads may share its request, so a read cannot be cancelled. */
  read(call: UpstreamCall): Promise<UpstreamAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#turn.push({ call, resolve, reject }) === 1) setImmediate(() => this.#flush())
    })
  }

  #flush(): void {
    const turn = this.#turn
    this.#turn = []
    // Nodes are chosen by their slots at a commitment.
    for (const same of Map.groupBy(turn, ({ call }) => call.commitment).values())
      for (let from = 0; from < same.length; from += GATHERED_MAX)
        void this.#send(same.slice(from, from + GATHERED_MAX))
  }

  async #send(waiting: readonly Waiting[]): Promise<void> {
    try {
      if (waiting.length === 1) {
        const [{ call, resolve }] = waiting as readonly [Waiting]
        return resolve(await this.#upstreams.alone(call))
      }
      const calls = waiting.map(({ call }) => call)
      const outcomes = await this.#upstreams.together(calls)
      for (const [at, { resolve, reject }] of waiting.entries()) {
        const outcome = outcomes[at]!
        if (outcome instanceof Error) reject(outcome)
        else resolve(outcome)
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }
}
