import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Layout } from '../../../../src/chain/layout.ts'
import { pubkeyToBase58 } from '../../../../src/chain/pubkey.ts'
import { readWire } from '../../../../src/chain/wire.ts'
import { LAUNCHPADS, POOL_VENUES } from '../../../../src/localnet/market/venues.ts'
import { LaunchStage, SOL } from '../launch-stage.ts'
import type { DecodedScript } from '../market-world.ts'
import { PoolBench } from './pool-bench.ts'

// Compares the localnet's own tables with the decoder's layouts. The layouts must read the bytes that the localnet writes to
// the last byte, and write them back unchanged.

const DECODERS = join(import.meta.dirname, '../../../../src/chain/venues')
const SELF_CALL = 'e445a52e51cb9a1d'

/** Returns the layouts of a venue's decoder that its modules export. */
async function layoutsOf(venue: string): Promise<readonly Layout<unknown>[]> {
  const files = readdirSync(DECODERS).filter((name) => name.startsWith(venue))
  const modules = await Promise.all(
    files.map((file) => import(join(DECODERS, file)) as Promise<Record<string, unknown>>)
  )
  return [...new Set(modules.flatMap((module) => Object.values(module).flat()))].filter(isLayout)
}

function isLayout(value: unknown): value is Layout<unknown> {
  return typeof value === 'object' && value !== null && 'discriminator' in value && 'fields' in value
}

/** Instructions of a program in a transaction, and events of any program in its calls and logs. */
function written({ transaction }: DecodedScript, program: string) {
  const { wire, meta } = transaction
  const read = readWire(wire)
  if (read.kind !== 'wire') throw new Error(read.reason)
  const { keys, keyCount, instructions: outer } = read.wire
  const known = Array.from({ length: keyCount }, (_, at) => keys.subarray(at * 32, at * 32 + 32))
  const all = [...known, ...meta.loadedWritable, ...meta.loadedReadonly].map((key) => pubkeyToBase58(key))
  const inner = meta.inner.flatMap(({ instructions }) => instructions)
  const calls = [...outer.map(({ program: programIndex, data }) => ({ programIndex, data })), ...inner]
    .filter(({ programIndex }) => all[programIndex] === program)
    .map(({ data }) => data)
  const isEvent = (data: Uint8Array): boolean => data.toHex().startsWith(SELF_CALL)
  const logged = meta.logs.flatMap(
    (line) => /^Program (?:data|log: ray_log): (\S+)$/.exec(line)?.slice(1) ?? []
  )
  return {
    instructions: calls.filter((data) => !isEvent(data)),
    events: [
      ...calls.filter(isEvent).map((data) => data.subarray(8)),
      ...logged.map((text) => Uint8Array.fromBase64(text))
    ]
  }
}

/** Returns the names of layouts that read something. Fails if a layout writes other bytes than it read. */
function agree(
  t: Test,
  layouts: readonly Layout<unknown>[],
  script: DecodedScript,
  program: string
): string[] {
  const { instructions, events } = written(script, program)
  const seen: string[] = []
  for (const [bytes, isInstruction] of [
    ...instructions.map((data) => [data, true] as const),
    ...events.map((data) => [data, false] as const)
  ]) {
    const layout = layouts.find(
      (known) =>
        isInstruction === 'accounts' in known && bytes.toHex().startsWith(known.discriminator.toHex())
    )
    if (layout === undefined) continue
    const reading = layout.read(bytes, layout.discriminator.length)
    if (reading?.drift !== 0 || layout.write(reading.value).toHex() !== bytes.toHex()) {
      t.fail(`${layout.name} is read otherwise than it was written: ${bytes.toHex()}`)
    }
    seen.push(layout.name)
  }
  return seen
}

/** Kinds of instructions and events that are compared; the decoders of Raydium Stable and Lifinity have no layouts. */
const COMPARED: Readonly<Record<string, number>> = {
  pumpswap: 10,
  'raydium-cpmm': 6,
  'raydium-amm-v4': 2,
  'raydium-clmm': 12,
  'raydium-stable': 0,
  'orca-whirlpool': 10,
  'meteora-dlmm': 11,
  'meteora-damm-v1': 8,
  'meteora-damm-v2': 7,
  lifinity: 0,
  phoenix: 8,
  pumpfun: 8,
  'raydium-launchlab': 6,
  'meteora-dbc': 7,
  moonshot: 6
}

function programOf({ events }: DecodedScript): string {
  const [event] = events
  if (event === undefined) throw new Error('nothing was decoded')
  return pubkeyToBase58(event.program)
}

for (const venue of POOL_VENUES.filter(({ venue }) => COMPARED[venue] !== 0)) {
  t.test(`${venue.venue}: what it writes is what the decoder's layouts say`, async (t) => {
    const bench = new PoolBench(`tables of ${venue.venue}`)
    const layouts = await layoutsOf(venue.venue)
    const { given: pool, ...opened } = bench.runFor(bench.creator, (script) =>
      venue.open(script, bench.newPool(), bench)
    )
    const scripts = [opened]
    for (const isBuy of [true, false, true, true, false]) {
      const swap = { trader: bench.trader, isBuy, amountIn: 1_000_000_000n }
      scripts.push(bench.run(bench.trader, (script) => void venue.swap(script, pool, swap, bench)))
    }
    for (const thousandths of venue.changeLiquidity === null ? [] : [100, 50, -60]) {
      scripts.push(
        bench.run(bench.provider, (script) =>
          venue.changeLiquidity!(script, pool, bench.provider, thousandths, bench)
        )
      )
    }
    const program = programOf(scripts[1]!)
    const seen = new Set(scripts.flatMap((script) => agree(t, layouts, script, program)))
    t.equal(seen.size, COMPARED[venue.venue], [...seen].join(' '))
  })
}

for (const launchpad of LAUNCHPADS) {
  t.test(`${launchpad.venue}: what it writes is what the decoder's layouts say`, async (t) => {
    const stage = new LaunchStage(launchpad, `tables of ${launchpad.venue}`)
    const layouts = await layoutsOf(launchpad.venue)
    const scripts = [stage.launched, stage.swap(true, SOL)!, stage.swap(false, 1_000_000_000n)!]
    scripts.push(stage.swap(true, 500n * SOL)!, stage.graduate().decoded)
    const program = programOf(scripts[0]!)
    const seen = new Set(scripts.flatMap((script) => agree(t, layouts, script, program)))
    t.equal(seen.size, COMPARED[launchpad.venue], [...seen].join(' '))
  })
}
