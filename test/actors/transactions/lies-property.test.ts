import fc from 'fast-check'
import t from 'tap'
import { randomRuns } from '../../random-runs.ts'
import { TrackingWorld } from './tracking-world.ts'

const FINALIZED = { confirmations: null, err: null, commitment: 'finalized' } as const

/** Behavior of a single node for a while. */
type Phase =
  | { readonly kind: 'honest' | 'silent' | 'denies'; readonly ms: number }
  | { readonly kind: 'lies'; readonly ms: number; readonly slotsBack: number; readonly failed: boolean }
  | { readonly kind: 'lands' | 'forks'; readonly ms: number }

const anyPhase: fc.Arbitrary<Phase> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('honest' as const, 'silent' as const, 'denies' as const),
    ms: fc.constantFrom(1_000, 6_000, 20_000)
  }),
  fc.record({
    kind: fc.constant('lies' as const),
    ms: fc.constantFrom(1_000, 6_000, 22_000),
    slotsBack: fc.constantFrom(-1, 0, 1, 40, 150, 900),
    failed: fc.boolean()
  }),
  fc.record({ kind: fc.constantFrom('lands' as const, 'forks' as const), ms: fc.constant(400) })
)

const lieOf = (slotsBack: number, failed: boolean): Phase => ({ kind: 'lies', ms: 1_000, slotsBack, failed })
const LANDS: Phase = { kind: 'lands', ms: 400 }

/** Runs that once failed: a node states another outcome in the slot in which the transaction has landed, and then another slot. */
const FOUND: [phases: Phase[]][] = [
  [[{ kind: 'forks', ms: 400 }, LANDS, lieOf(1, true), lieOf(-1, false)]],
  [[{ kind: 'silent', ms: 20_000 }, { kind: 'forks', ms: 400 }, LANDS, lieOf(1, true), lieOf(40, true)]]
]

for (const hasBlocks of [true, false])
  t.test(
    `whatever a node states for up to 22 s, the end of a transaction is that of the chain, ${hasBlocks ? 'with' : 'without'} blocks`,
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(anyPhase, { minLength: 1, maxLength: 8 }), async (phases) => {
          const world = new TrackingWorld()
          const { chain } = world
          chain.hasBlocks = hasBlocks
          const own = world.start()
          own.node.nodes = 1
          own.shard.begin(await world.submit('a', { receivedSlot: 1_000 }))
          for (const phase of phases) {
            let slot: number | null = null
            own.node.isAway = phase.kind === 'silent'
            own.node.lies = (_, contextSlot) => {
              if (phase.kind === 'denies') return null
              if (phase.kind !== 'lies') return undefined
              slot ??= contextSlot - phase.slotsBack
              return { ...FINALIZED, slot, err: phase.failed ? 'AccountInUse' : null }
            }
            if (phase.kind === 'lands' && !chain.landed.has('a') && chain.isValid(998)) chain.land('a')
            if (phase.kind === 'forks') chain.fork(chain.slot - 3)
            await world.pass(phase.ms)
            // One lie follows another only after answers that contradict it.
            own.node.isAway = false
            own.node.lies = () => undefined
            if (phase.kind === 'lies' || phase.kind === 'denies') await world.pass(16_000)
          }
          const landed = chain.landed.get('a')
          for (let passed = 0; passed < 800_000 && own.progress('a') !== null; passed += 5_000)
            await world.pass(5_000)
          const { end } = (await world.stored('a')).value
          own.kill()
          const expected = landed === undefined ? 'expired' : 'finalized'
          if (end?.state !== expected || end.slot !== (landed?.slot ?? null))
            throw new Error(
              `it is ${end?.state} in ${end?.slot}; on the chain ${expected} in ${landed?.slot}`
            )
        }),
        { ...randomRuns(10), examples: FOUND }
      )
    }
  )
