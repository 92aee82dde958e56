import t from 'tap'
import { pino } from 'pino'
import type { ProcessScope } from '../../../actors/supervision/process.ts'
import { recordedSource } from '../../../actors/ingest/source.ts'
import type { BlockSource } from '../../../src/node/block-source.ts'
import { systemPorts, type Clock } from '../../../src/ports.ts'
import { advance, virtualClock } from '../../virtual-time.ts'

/** A folder of empty blocks, ten seconds apart. */
function folder(slots: readonly number[]): Record<string, string> {
  return Object.fromEntries(
    slots.map((slot, index) => [
      `${slot}.json`,
      JSON.stringify({
        blockhash: '11111111111111111111111111111111',
        previousBlockhash: '11111111111111111111111111111111',
        parentSlot: slot - 1,
        blockTime: 1_700_000_000 + index * 10,
        transactions: []
      })
    ])
  )
}

function start(directory: string, speed: 'max' | number, clock: Clock = systemPorts.clock) {
  const drain = new AbortController()
  let source: BlockSource | undefined
  const scope: ProcessScope<unknown, BlockSource> = {
    input: {},
    draining: drain.signal,
    signal: new AbortController().signal,
    ready: (gives) => (source = gives),
    show: () => undefined,
    gauge: () => undefined,
    supervises: () => undefined,
    report: () => undefined
  }
  const done = recordedSource({ directory, speed }, { clock, logger: pino({ level: 'silent' }) })(scope)
  return { drain, done, source: () => source! }
}

async function slotsOf(blocks: AsyncIterable<{ block: { slot: number } }>): Promise<number[]> {
  const slots: number[] = []
  for await (const { block } of blocks) slots.push(block.slot)
  return slots
}

t.test('a recorded source is ready before it has looked through its folder', async (t) => {
  const { source, drain, done } = start(t.testdir(folder([7, 5])), 'max')
  t.ok(source())
  const { signal } = new AbortController()
  t.same(await slotsOf(source().blocks({ after: null, signal })), [5, 7])
  t.same(await slotsOf(source().blocks({ after: 5, signal })), [7], 'a reader goes on where it was')
  drain.abort()
  await done
})

t.test('a drain ends a source that still looks through its folder', async (t) => {
  const { drain, done } = start(t.testdir(folder([1, 2, 3])), 'max')
  drain.abort()
  await done
  t.pass('it ended')
})

t.test('a factor of real time paces blocks by their block times', async (t) => {
  const clock = virtualClock()
  const { source, drain, done } = start(t.testdir(folder([1, 2, 3])), 5, clock)
  const seen: number[] = []
  const reading = (async () => {
    for await (const { block } of source().blocks({ after: null, signal: drain.signal }))
      seen.push(block.slot)
  })()
  while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve))
  await advance(clock, 1999)
  t.same(seen, [1])
  await advance(clock, 20)
  t.same(seen, [1, 2], 'ten seconds at five times the pace are two')
  drain.abort()
  await reading
  t.same(seen, [1, 2], 'a drain does not wait for the next block')
  await done
})
