import fc from 'fast-check'
import t from 'tap'
import { randomRuns } from '../../random-runs.ts'
import { ModelRun, type Step } from './tracking-model.ts'

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('submit' as const),
      isBegun: fc.constantFrom(true, true, false)
    })
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('pass' as const),
      ms: fc.constantFrom(20, 300, 1_000, 2_500, 9_000, 30_000)
    })
  },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('land' as const), of: fc.nat(5), failed: fc.boolean() })
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('fork' as const), slots: fc.integer({ min: 1, max: 6 }) })
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'kill' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'takeover' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'drain' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('store' as const), isAway: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('node' as const), isAway: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('refuse' as const), refuses: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('lag' as const),
      of: fc.constantFrom('lag' as const, 'statusLag' as const),
      slots: fc.constantFrom(0, 3, 30)
    })
  }
)

/** Runs that once failed: blocks of two forks with one slot and two outcomes. */
const FOUND: [steps: Step[]][] = [
  [
    [
      { kind: 'submit', isBegun: true },
      { kind: 'land', of: 0, failed: false },
      { kind: 'fork', slots: 1 },
      { kind: 'land', of: 0, failed: true }
    ]
  ],
  [
    [
      { kind: 'submit', isBegun: true },
      { kind: 'land', of: 0, failed: true },
      { kind: 'pass', ms: 20 },
      { kind: 'fork', slots: 1 },
      { kind: 'drain' },
      { kind: 'land', of: 0, failed: false }
    ]
  ]
]

for (const isShared of [false, true])
  for (const hasBlocks of [false, true])
    t.test(
      `in any order of sends, blocks, forks, kills and takeovers no state contradicts the chain and no submission is forgotten, on a store ${isShared ? 'of several processes' : 'of one process'}, ${hasBlocks ? 'with' : 'without'} blocks`,
      async (t) => {
        let ends = 0
        await fc.assert(
          fc.asyncProperty(fc.array(anyStep, { minLength: 5, maxLength: 30 }), async (steps) => {
            const run = new ModelRun({ isShared, hasBlocks })
            for (const step of steps) await run.step(step)
            await run.finish()
            ends++
          }),
          { ...randomRuns(10), examples: FOUND }
        )
        t.ok(ends >= 10)
      }
    )
