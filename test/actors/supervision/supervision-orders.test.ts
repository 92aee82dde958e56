import fc from 'fast-check'
import t from 'tap'
import { supervisor } from '../../../actors/supervision/unit.ts'
import type { Unit } from '../../../actors/supervision/unit.ts'
import type { Policy } from '../../../machines/unit.ts'
import { advance, settle } from '../../virtual-time.ts'
import { randomRuns } from '../../random-runs.ts'
import { aborted, Recorder } from './recorder.ts'
import type { InstanceName } from './recorder.ts'

const policy: Partial<Policy> = {
  intensity: { crashes: 3, periodMs: 60 },
  backoff: { floorMs: 2, ceilingMs: 8 },
  stableAfterMs: 20,
  startMs: 10,
  drainMs: 6,
  killMs: 6
}

/** Delays of a process until it is ready and until it ends; it may ignore a drain. */
interface Temper {
  readonly readyMs: number
  readonly endMs: number
  readonly ignoresDrain: boolean
}

type Step = { readonly crash: string } | { readonly waitMs: number } | { readonly drain: true }

const PATHS = ['storage', 'chain/source', 'chain/ingest', 'tenants/a', 'tenants/b', 'edge']
const nameOf = (path: string): string => path.split('/').at(-1)!

const temper: fc.Arbitrary<Temper> = fc.record({
  readyMs: fc.oneof(
    { weight: 12, arbitrary: fc.integer({ min: 0, max: 3 }) },
    { weight: 1, arbitrary: fc.constant(12) }
  ),
  endMs: fc.integer({ min: 0, max: 4 }),
  ignoresDrain: fc.boolean()
})

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ crash: fc.constantFrom(...PATHS) }) },
  { weight: 8, arbitrary: fc.record({ waitMs: fc.integer({ min: 0, max: 20 }) }) },
  { weight: 1, arbitrary: fc.constant({ drain: true } as const) }
)

/** Storage, a chain restarted as a whole, tenants restarted one by one, and the edge, each with its delays. */
function tree(recorder: Recorder, tempers: ReadonlyMap<string, Temper>): Unit<object> {
  const process = (name: string): Unit<object> => {
    const { readyMs, endMs, ignoresDrain } = tempers.get(name)!
    const pause = (ms: number) => new Promise<void>((resolve) => recorder.clock.setTimeout(resolve, ms))
    return recorder.process(name, policy, async ({ ready, draining, signal }, instance) => {
      recorder.clock.setTimeout(() => ready(instance), readyMs)
      await aborted(ignoresDrain ? signal : draining)
      await pause(endMs)
    })
  }
  return supervisor(
    'service',
    'rest_for_one',
    [
      process('storage'),
      supervisor('chain', 'one_for_all', [process('source'), process('ingest')], bounds),
      supervisor('tenants', 'one_for_one', [process('a'), process('b')], bounds),
      process('edge')
    ],
    bounds
  )
}

/** Supervisors have no separate time limits. */
const bounds: Partial<Policy> = { intensity: policy.intensity!, backoff: policy.backoff! }

/** Returns a violation of the order in which processes may live together, or undefined. */
function disorder({ alive, builtOn }: Recorder, started: InstanceName): string | undefined {
  const [name] = started.split('#')
  for (const other of alive)
    if (other !== started && other.startsWith(`${name}#`)) return `${started} lives beside ${other}`
  for (const instance of alive)
    for (const base of builtOn.get(instance)!)
      if (base.startsWith(`${name}#`) && base !== started) return `${instance} outlived ${base}`
  for (const base of builtOn.get(started)!)
    if (!alive.has(base)) return `${started} is built on ${base}, which is gone`
  return undefined
}

t.test(
  'in any order of crashes and drains, no process lives twice and none outlives what it is built on',
  async (t) => {
    let starts = 0
    let drains = 0
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(...PATHS.map(() => temper)),
        fc.array(step, { minLength: 5, maxLength: 20 }),
        async (tempers, steps) => {
          const faults: string[] = []
          const recorder = new Recorder()
          recorder.began = (instance) => {
            starts++
            const fault = disorder(recorder, instance)
            if (fault !== undefined) faults.push(fault)
          }
          const named = new Map(PATHS.map((path, index) => [nameOf(path), tempers[index]!]))
          const running = await recorder.start(tree(recorder, named))
          for (const each of steps) {
            if ('crash' in each) running.kill(each.crash)
            else if ('waitMs' in each) await advance(recorder.clock, each.waitMs)
            else {
              void running.drain()
              drains++
            }
            await settle()
          }
          const outcome = running.drain()
          await advance(recorder.clock, 80)
          await outcome
          if (recorder.alive.size > 0) faults.push(`${[...recorder.alive].join()} outlived the drain`)
          if (faults.length > 0) throw new Error(faults.join('; '))
        }
      ),
      randomRuns(60, 20_260_101)
    )
    t.ok(starts > 300, `${starts} starts`)
    t.ok(drains > 20, `${drains} drains before the last`)
  }
)
