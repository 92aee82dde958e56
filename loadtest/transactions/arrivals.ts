import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import type { MeasuredProcess } from '../measured-process.ts'
import { monotonicMs } from '../stream/trades.ts'
import { summaryOf } from '../webhooks/figures.ts'
import { measureDiskSync } from './disk-sync.ts'
import { askNode, lostAndTwice, receiptsOf } from './receipts.ts'
import type { SendingService } from './service.ts'
import { keyOf, transfers } from './transfers.ts'

const BARS = { p50_ms_more: 3, p99_ms_more: 15 }
const SENDS_PER_SECOND = 100
/** Uncounted sends of each way. */
const WARM_UP = 100
const OPTIONS = { encoding: 'base64', skipPreflight: true, maxRetries: 0 }

/**
 * Measures the time from a POST to the node's receipt, alternately through the service and to the node directly. The service
 * waits for the disk, once or behind another sync. Afterwards the duration of a sync without the service is measured; the
 * time beyond it is the service's own.
 */
export async function measureArrivals(service: SendingService, node: MeasuredProcess, count: number) {
  const pools = [new Pool(service.process.url), new Pool(node.url)] as const
  const post = async (pool: Pool, path: string, body: object, key = ''): Promise<void> => {
    const headers = { 'content-type': 'application/json', 'x-api-key': key }
    const answer = await pool.request({ method: 'POST', path, headers, body: JSON.stringify(body) })
    await answer.body.dump()
    if (answer.statusCode !== 200) throw new Error(`a send was answered with ${answer.statusCode}`)
  }
  const all = transfers(2 * (count + WARM_UP))
  const startedMs = new Map<string, number>()
  const answers: Promise<void>[] = []
  const began = monotonicMs()
  for (const [at, tx] of all.entries()) {
    await pause(Math.max(0, began + (at * 1_000) / SENDS_PER_SECOND - monotonicMs()))
    startedMs.set(keyOf(tx), monotonicMs())
    const key = service.keys[(at >> 1) % service.keys.length]!
    answers.push(
      at % 2 === 0
        ? post(pools[0], '/v1/tx/send', { tx }, key)
        : post(pools[1], '/', { jsonrpc: '2.0', id: at, method: 'sendTransaction', params: [tx, OPTIONS] })
    )
  }
  await Promise.all(answers)
  const receipts = await receiptsOf(node)
  await askNode(node, 'land')
  await service.ended()
  await askNode(node, 'hold')
  await Promise.all(pools.map((pool) => pool.close()))
  const diskSync = await measureDiskSync(count, SENDS_PER_SECOND)
  const waits = (parity: 0 | 1): number[] =>
    all
      .map(keyOf)
      .filter((key, at) => at % 2 === parity && at >= 2 * WARM_UP && receipts.has(key))
      .map((key) => receipts.get(key)![0]! - startedMs.get(key)!)
  const [ours, direct] = [summaryOf(waits(0)), summaryOf(waits(1))]
  const verified = lostAndTwice(receipts, all.map(keyOf))
  const more = { p50: ours.p50 - direct.p50, p99: ours.p99 - direct.p99 }
  return {
    reached:
      more.p50 <= BARS.p50_ms_more &&
      more.p99 <= BARS.p99_ms_more &&
      verified.lost + verified.twice_at_once === 0,
    bars: BARS,
    sends_a_second: SENDS_PER_SECOND,
    ms_more: more,
    millrace_ms: ours,
    direct_ms: direct,
    disk_sync_ms: diskSync,
    beyond_disk_sync_ms: { p50: ours.p50 - diskSync.p50, p99: ours.p99 - diskSync.p99 },
    verified
  }
}
