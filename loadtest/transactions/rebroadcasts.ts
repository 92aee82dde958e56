import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { REBROADCAST_MS } from '../../src/transactions/submission.ts'
import { giveServersCore } from '../cores.ts'
import { startMeasured } from '../measured-process.ts'
import { summaryOf } from '../webhooks/figures.ts'
import { askNode, lostAndTwice, receiptsOf } from './receipts.ts'
import type { Anchors, RunCost, TrackerOrder } from './tracker-process.ts'

const BARS = { lateness_p99_ms: 50, processor_seconds_a_second: 1, kib_a_signature: 8 }
/** Milliseconds in which sends in flight arrive at the node. */
const SETTLE_MS = 500

/** Measures the loop of many tracked transactions against a node that knows none of them. */
export async function measureRebroadcasts(tracked: number, seconds: number, hasCore: boolean) {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-tracked-'))
  const node = await startMeasured('transactions/node-process.ts', [])
  const tracker = await startMeasured('transactions/tracker-process.ts', [directory, node.url], {
    nodeArgs: ['--expose-gc']
  })
  if (hasCore) giveServersCore(tracker.pid)
  const ask = (order: TrackerOrder): Promise<unknown> => tracker.ask(JSON.stringify(order))
  try {
    // Code that runs for the first time takes memory once, not for each signature.
    const few = Math.floor(tracked / 10)
    await ask({ kind: 'track', count: few })
    await ask({ kind: 'run', ms: REBROADCAST_MS })
    const before = (await ask({ kind: 'memory' })) as number
    await ask({ kind: 'track', count: tracked - few })
    // The first periods are the warm-up.
    await ask({ kind: 'run', ms: 2 * REBROADCAST_MS })
    const fromMs = Date.now()
    const cost = (await ask({ kind: 'run', ms: seconds * 1_000 })) as RunCost
    const untilMs = Date.now()
    await pause(SETTLE_MS)
    const held = ((await ask({ kind: 'memory' })) as number) - before
    const { sent, offsetMs } = (await ask({ kind: 'anchors' })) as Anchors
    const receipts = await receiptsOf(node)
    const lateMs: number[] = []
    let [missing, due] = [0, 0]
    for (const [key, anchorMs] of sent) {
      const times = (receipts.get(key) ?? []).map((ms) => ms + offsetMs)
      const first = Math.ceil((fromMs - anchorMs) / REBROADCAST_MS)
      // An instant whose send may be on its way at the end does not count.
      const last = Math.floor((untilMs - SETTLE_MS - anchorMs) / REBROADCAST_MS)
      for (let n = first; n <= last; n++) {
        const instant = anchorMs + n * REBROADCAST_MS
        const at = times.find((ms) => ms >= instant - 1 && ms < instant + REBROADCAST_MS - 1)
        due++
        if (at === undefined) missing++
        else lateMs.push(Math.max(0, at - instant))
      }
    }
    const lateness = summaryOf(lateMs)
    const verified = lostAndTwice(
      receipts,
      sent.map(([key]) => key)
    )
    const kib = held / 1_024 / (tracked - few)
    return {
      reached:
        lateness.p99 <= BARS.lateness_p99_ms &&
        cost.cpuPerSecond <= BARS.processor_seconds_a_second &&
        kib <= BARS.kib_a_signature &&
        verified.lost + verified.twice_at_once + missing === 0 &&
        sent.length === tracked,
      bars: BARS,
      tracked,
      seconds,
      lateness_ms: lateness,
      processor_seconds_a_second: cost.cpuPerSecond,
      kib_a_signature: kib,
      unwritten_max: cost.unwrittenMax,
      sends_in_flight_max: cost.inFlightMax,
      instants: due,
      instants_without_a_send: missing,
      verified,
      faults: tracker.stderr.length
    }
  } finally {
    for (const line of tracker.stderr.slice(0, 5)) process.stderr.write(`${line}\n`)
    await askNode(node, 'forget')
    await Promise.all([tracker.end(), node.end()])
    rmSync(directory, { recursive: true })
  }
}
