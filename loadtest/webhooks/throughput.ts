import type { Cost } from './engine-process.ts'
import type { Plan } from './plan.ts'
import { Side } from './side.ts'
import { median } from '../median.ts'

const BAR = 0.7
const WEBHOOKS = 1_000
/** A block has one whole batch for each webhook. */
const SHAPE = { channels: 5, burst: 64 }
const BLOCKS_PER_ROUND = 8
const POSTS = WEBHOOKS * BLOCKS_PER_ROUND

interface Round {
  readonly real: Cost
  readonly alone: Cost
  readonly per_cpu: number
  readonly per_wall: number
}

/** Measures deliveries to receivers that answer at once, alternately with a bare loop that sends equal bodies. */
export async function measureThroughput(rounds: number, hasCore: boolean, nodeArgs: readonly string[] = []) {
  const side = await Side.start(hasCore, nodeArgs)
  try {
    const plans = Array.from({ length: WEBHOOKS }, (_, n): Plan => {
      return { n, first: n % SHAPE.channels, count: 1, burst: SHAPE.burst }
    })
    await side.insert(plans)
    await side.startDeliveries()
    const each: Round[] = []
    // The first round is the warm-up.
    for (let round = 0; round <= rounds; round++) {
      const engine = () => side.deliver(SHAPE, BLOCKS_PER_ROUND)
      const bare = () => side.bare(POSTS)
      const isFirst = round % 2 === 0
      const before = isFirst ? await engine() : await bare()
      const after = isFirst ? await bare() : await engine()
      const [real, alone] = isFirst ? [before, after] : [after, before]
      const ratios = { per_cpu: alone.cpuMs / real.cpuMs, per_wall: alone.wallMs / real.wallMs }
      if (round > 0) each.push({ real, alone, ...ratios })
    }
    const totals = await side.totals((rounds + 1) * BLOCKS_PER_ROUND * SHAPE.burst)
    const isComplete =
      totals.incomplete + totals.dropped + totals.faults.length + totals.unanswered === 0 &&
      totals.webhooks === WEBHOOKS
    const rate = (of: 'real' | 'alone') => {
      const [wallMs, cpuMs, mainThreadMs] = (['wallMs', 'cpuMs', 'mainThreadMs'] as const).map((key) =>
        median(each.map((round) => round[of][key]))
      ) as [number, number, number]
      return {
        posts_a_second: (POSTS * 1_000) / wallMs,
        events_a_second: (POSTS * SHAPE.burst * 1_000) / wallMs,
        cpu_us_a_post: (cpuMs * 1_000) / POSTS,
        main_thread_us_a_post: (mainThreadMs * 1_000) / POSTS
      }
    }
    const [perCpu, perWall] = [
      median(each.map(({ per_cpu }) => per_cpu)),
      median(each.map(({ per_wall }) => per_wall))
    ]
    return {
      reached: perCpu >= BAR && perWall >= BAR && isComplete,
      bar: BAR,
      webhooks: WEBHOOKS,
      events_a_post: SHAPE.burst,
      posts_a_round: POSTS,
      ratio_per_processor_second: perCpu,
      ratio_per_wall_second: perWall,
      millrace: rate('real'),
      bare_undici: rate('alone'),
      rounds: each,
      verified_complete: isComplete,
      received: totals
    }
  } finally {
    await side.end()
  }
}
