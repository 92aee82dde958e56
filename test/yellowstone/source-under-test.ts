import { pino } from 'pino'
import type { Test } from 'tap'
import type { ProcessScope } from '../../actors/supervision/process.ts'
import {
  yellowstoneSource,
  YELLOWSTONE_TUNING,
  type YellowstoneSource,
  type YellowstoneSourceOptions
} from '../../actors/ingest/yellowstone-source.ts'
import type { SourcedBlock } from '../../src/node/block-source.ts'
import { systemPorts } from '../../src/ports.ts'
import type { SourceStatus } from '../../src/node/source-status.ts'

export const TOKEN = 'a-token-that-nobody-logs'

/** Short timeouts, so that tests need not sit through waits. Most tests are not about a stalled stream. */
export const QUICK = {
  ...YELLOWSTONE_TUNING,
  stallMs: 60_000,
  backoff: { floorMs: 2, ceilingMs: 20 },
  graceMs: 10,
  giveUpMs: 50,
  retryMs: 5
}

export interface LogLine {
  readonly level: number
  readonly msg: string
}

/** A source as the supervision tree runs it, ended with the test. */
export function startSource(
  t: Test,
  options: Partial<YellowstoneSourceOptions> & { readonly url: string },
  after: number | null
) {
  const drain = new AbortController()
  const reader = new AbortController()
  const lines: LogLine[] = []
  const gauges = new Map<string, () => number>()
  const shown: (() => SourceStatus)[] = []
  const gaps: unknown[] = []
  const forks: unknown[] = []
  let source: YellowstoneSource | undefined
  const scope: ProcessScope<unknown, YellowstoneSource> = {
    input: {},
    draining: drain.signal,
    signal: new AbortController().signal,
    ready: (gives) => (source = gives),
    show: (read) => void shown.push(read),
    gauge: (name, read) => gauges.set(name, read),
    supervises: () => undefined,
    report: (error) => t.fail(String(error))
  }
  const logger = pino({ level: 'debug' }, { write: (line) => void lines.push(JSON.parse(line) as LogLine) })
  const full: YellowstoneSourceOptions = {
    token: TOKEN,
    commitment: 'confirmed',
    fetchMissing: null,
    askNodes: null,
    head: async () => null,
    onGap: (gap) => void gaps.push(gap),
    onFork: (fork) => void forks.push(fork),
    ...options,
    tuning: { ...QUICK, ...options.tuning }
  }
  const done = yellowstoneSource(full, { ...systemPorts, logger })(scope)
  const blocks = source!.blocks({ after, signal: reader.signal })[Symbol.asyncIterator]()
  // The first block is requested in advance, so that a stream starts without a consumer.
  let next: Promise<IteratorResult<SourcedBlock>> | undefined
  const end = async (): Promise<void> => {
    reader.abort()
    drain.abort()
    await done
    await next
  }
  t.teardown(end)
  return {
    lines,
    gaps,
    forks,
    end,
    status: () => source!.status,
    shown: () => shown[0]!(),
    gauge: (name: string) => gauges.get(name)!(),
    problems: () => lines.filter(({ level }) => level >= 40).map(({ msg }) => msg),
    /** Starts to read. */
    begin() {
      next ??= blocks.next()
    },
    async take(count: number): Promise<SourcedBlock[]> {
      const taken: SourcedBlock[] = []
      while (taken.length < count) {
        const result = await (next ?? blocks.next())
        next = undefined
        if (result.done === true) throw new Error('the source ended')
        taken.push(result.value)
      }
      return taken
    },
    async slots(count: number): Promise<number[]> {
      return (await this.take(count)).map(({ block }) => block.slot)
    }
  }
}
