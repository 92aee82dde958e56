import { ServiceError } from '../../../src/kernel/errors.ts'
import type { Clock } from '../../../src/ports.ts'
import type { RevocableTurn } from '../../../src/transactions/fair-queue.ts'
import type { BlockEngine, BundleEngine, SubmissionOutcome, Tips } from '../../../src/transactions/ports.ts'
import type { Run } from '../../supervision/process.ts'
import { EngineClient, type EngineClientOptions } from './engine-client.ts'
import { StatusPoller } from './status-poller.ts'
import { TipBoard } from './tip-board.ts'

/** Share of a region's requests that polls of statuses may take; the others are left to submissions. */
const POLL_SHARE = 0.5
/** Shortest poll interval, in milliseconds, however many requests are allowed. */
const POLL_MS_MIN = 200

export interface BlockEngineOptions extends Omit<EngineClientOptions, 'clock'> {
  /** Null if no feed of tips is configured. */
  readonly tipFloorUrl: string | null
}

/** The block engine of this process. */
export class OpenBlockEngine implements BlockEngine, BundleEngine {
  readonly #client: EngineClient
  readonly #poller: StatusPoller
  readonly #tips: TipBoard
  readonly #end = new AbortController()

  constructor(options: BlockEngineOptions, clock: Clock, report: (error: unknown) => void) {
    this.#client = new EngineClient({ ...options, clock })
    const callsPerSecond = options.requestsPerSecond * Math.max(1, this.#client.regions)
    const pollMs = Math.max(POLL_MS_MIN, 1_000 / (callsPerSecond * POLL_SHARE))
    this.#poller = new StatusPoller(this.#client, { pollMs, clock, report })
    this.#tips = new TipBoard(this.#client, options.tipFloorUrl, { clock, end: this.#end.signal })
  }

  /** Bundles whose statuses are being polled, requests that wait for a region, and requests sent since the start. */
  get use(): { readonly followed: number; readonly waiting: number; readonly sent: number } {
    return { followed: this.#poller.followed, waiting: this.#client.waiting, sent: this.#client.sent }
  }

  /** Polls until the signal aborts, then closes all connections. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#poller.run(signal)
    } finally {
      this.#end.abort()
      await this.#client.close()
    }
  }

  async send(
    wire: Uint8Array,
    signal: AbortSignal,
    { revertProtection, turn }: { readonly revertProtection: boolean; readonly turn: RevocableTurn }
  ): Promise<boolean> {
    const outcome = await this.#client.sendTransaction(wire, revertProtection, signal, turn)
    if (outcome.kind === 'refused')
      throw new ServiceError('UPSTREAM_ERROR', `the block engine refuses the transaction: ${outcome.message}`)
    return outcome.kind === 'accepted' || outcome.kind === 'unsure'
  }

  submitBundle(
    wires: readonly Uint8Array[],
    signal: AbortSignal,
    turn: RevocableTurn
  ): Promise<SubmissionOutcome> {
    return this.#client.sendBundle(wires, signal, turn)
  }

  follow: BundleEngine['follow'] = (id, heard) => this.#poller.follow(id, heard)

  tipAccounts(): Promise<readonly string[]> {
    return this.#tips.accounts()
  }

  tips(): Promise<Tips> {
    return this.#tips.tips()
  }
}

/** Owns the connections to the block engine. `optionsOf` is called when it starts. */
export function blockEngine(
  optionsOf: () => BlockEngineOptions,
  clock: Clock
): Run<unknown, OpenBlockEngine> {
  return async ({ draining, ready, gauge, report }) => {
    const engine = new OpenBlockEngine(optionsOf(), clock, report)
    gauge('bundles_followed', () => engine.use.followed)
    gauge('requests_waiting', () => engine.use.waiting)
    gauge('requests', () => engine.use.sent)
    ready(engine)
    await engine.run(draining)
  }
}
