import { giveServersCore } from '../cores.ts'
import { measure, type Measurement, type Post } from '../closed-loop.ts'
import { startMeasured, type MeasuredProcess } from '../measured-process.ts'
import { askNode, lostAndTwice, receiptsOf } from './receipts.ts'
import type { SendingService } from './service.ts'
import { keyOf, transfers } from './transfers.ts'
import { median } from '../median.ts'

const BAR = 0.5
const CONNECTIONS = 30

interface Round {
  readonly real: Measurement
  readonly bare: Measurement
  readonly per_wall: number
  readonly per_cpu: number
}

/**
 * Measures sends a second, verified and stored, alternately with a bare route that verifies the signature and forwards. A
 * round's transactions are tracked and resent until its end; then they land in blocks.
 */
export async function measureSends(
  service: SendingService,
  node: MeasuredProcess,
  { rounds, sends, hasCore }: { readonly rounds: number; readonly sends: number; readonly hasCore: boolean }
) {
  const bareRoute = await startMeasured('transactions/bare-process.ts', [node.url])
  if (hasCore) giveServersCore(bareRoute.pid)
  const each: Round[] = []
  const keys: string[] = []
  const statuses = new Set<string>()
  const run = async (server: MeasuredProcess): Promise<Measurement> => {
    const all = transfers(Math.ceil(sends / CONNECTIONS) * CONNECTIONS)
    keys.push(...all.map(keyOf))
    const load = { headers: {}, paths: postsOf(all, service.keys), seconds: 'once' } as const
    const measured = await measure(server, load)
    for (const status of Object.keys(measured.statuses)) statuses.add(status)
    return measured
  }
  try {
    // The first round is the warm-up.
    for (let round = 0; round <= rounds; round++) {
      const bareFirst = round % 2 === 1 ? await run(bareRoute) : null
      const real = await run(service.process)
      await askNode(node, 'land')
      await service.ended()
      await askNode(node, 'hold')
      const bare = bareFirst ?? (await run(bareRoute))
      const ratios = { per_wall: real.perSecond / bare.perSecond, per_cpu: bare.cpuMicros / real.cpuMicros }
      if (round > 0) each.push({ real, bare, ...ratios })
    }
    const verified = lostAndTwice(await receiptsOf(node), keys)
    const isComplete = verified.lost + verified.twice_at_once === 0 && [...statuses].join() === '200'
    const [perWall, perCpu] = [
      median(each.map(({ per_wall }) => per_wall)),
      median(each.map(({ per_cpu }) => per_cpu))
    ]
    return {
      reached: perWall >= BAR && perCpu >= BAR && isComplete,
      bar: BAR,
      connections: CONNECTIONS,
      ratio_per_wall_second: perWall,
      ratio_per_processor_second: perCpu,
      sends_a_second: median(each.map(({ real }) => real.perSecond)),
      bare_route: median(each.map(({ bare }) => bare.perSecond)),
      rounds: each,
      statuses: [...statuses],
      verified
    }
  } finally {
    await bareRoute.end()
  }
}

/** Divides transactions among connections; each connection belongs to a tenant. */
function postsOf(all: readonly string[], keys: readonly string[]): Post[][] {
  const size = all.length / CONNECTIONS
  return Array.from({ length: CONNECTIONS }, (_, connection) => {
    const headers = { 'x-api-key': keys[connection % keys.length]!, 'content-type': 'application/json' }
    return all
      .slice(connection * size, (connection + 1) * size)
      .map((tx): Post => ({ method: 'POST', path: '/v1/tx/send', headers, body: JSON.stringify({ tx }) }))
  })
}
