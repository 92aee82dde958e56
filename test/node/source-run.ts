import { pino } from 'pino'
import {
  rpcSource,
  type RpcSource,
  type RpcSourceOptions,
  type RpcSourceTuning
} from '../../actors/ingest/rpc-source.ts'
import type { Block } from '../../src/chain/transaction.ts'
import type { SlotGap } from '../../src/node/chain-node.ts'
import { systemPorts } from '../../src/ports.ts'
import { until } from '../until.ts'

/** Pauses as short as a test server over loopback allows. Requests have the time that a starved machine takes. */
export const FAST: Partial<RpcSourceTuning> = {
  client: { requestsPerSecond: Infinity, timeoutMs: 60_000 },
  probeMs: 20,
  archiveProbeMs: 50,
  probeTimeoutMs: 60_000,
  giveUpMs: 240_000,
  stallMs: 30_000,
  recheckMs: 60_000,
  backoff: { floorMs: 50, ceilingMs: 200 }
}

/** Timeouts of tests whose nodes do not answer. */
export const IMPATIENT = {
  client: { requestsPerSecond: Infinity, timeoutMs: 3_000 },
  probeTimeoutMs: 3_000
} satisfies Partial<RpcSourceTuning>

export interface LogLine {
  readonly level: number
  readonly msg: string
}

/** A source process with a reader of its blocks. */
export class SourceRun {
  readonly slots: number[] = []
  readonly gaps: SlotGap[] = []
  readonly lines: LogLine[] = []
  readonly genesis: string[] = []
  readonly gauges = new Map<string, () => number>()
  readonly #drain = new AbortController()
  readonly #done: Promise<void>
  #source: RpcSource | undefined
  #reading: Promise<void> = Promise.resolve()

  constructor(options: Partial<RpcSourceOptions> & Pick<RpcSourceOptions, 'urls'>) {
    const logger = pino(
      { base: null },
      { write: (line) => void this.lines.push(JSON.parse(line) as LogLine) }
    )
    const run = rpcSource(
      {
        archiveUrls: [],
        commitment: 'confirmed',
        expectedGenesis: async () => null,
        onGenesis: async (genesis) => void this.genesis.push(genesis),
        onGap: (gap) => void this.gaps.push(gap),
        ...options,
        tuning: { ...FAST, ...options.tuning }
      },
      { ...systemPorts, logger }
    )
    this.#done = run({
      input: {},
      draining: this.#drain.signal,
      signal: new AbortController().signal,
      ready: (source) => (this.#source = source),
      show: () => undefined,
      gauge: (name, read) => this.gauges.set(name, read),
      supervises: () => undefined,
      report: () => undefined
    })
  }

  get source(): RpcSource {
    return this.#source!
  }

  gauge(name: string): number {
    const read = this.gauges.get(name)
    if (read === undefined) throw new Error(`no gauge is called ${name}`)
    return read()
  }

  /** Returns messages of at least a level of pino: 30 info, 40 warn, 50 error. */
  said(level = 30): string[] {
    return this.lines.filter((line) => line.level >= level).map(({ msg }) => msg)
  }

  read(after: number | null, take: (block: Block) => void = () => undefined): void {
    this.#reading = (async () => {
      for await (const { block } of this.source.blocks({ after, signal: this.#drain.signal })) {
        this.slots.push(block.slot)
        take(block)
      }
    })()
  }

  /** Waits until a condition holds. */
  async until(holds: () => boolean): Promise<void> {
    await until(holds, () => `${holds.toString()}\n${this.said().join('\n')}`)
  }

  /** Waits until a slot is the last one read, and every node that was late for a moment is well again. */
  async advanceTo(slot: number): Promise<void> {
    await this.until(() => this.slots.at(-1) === slot && this.source.status.state === 'advancing')
  }

  async end(): Promise<void> {
    this.#drain.abort()
    await this.#reading
    await this.#done
  }
}
