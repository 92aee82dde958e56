import { setTimeout as pause } from 'node:timers/promises'
import { summaryOf, weightedSummary } from './figures.ts'
import type { Plan } from './plan.ts'
import type { Totals } from './receivers.ts'
import { Side } from './side.ts'

const BARS = { p99_ratio_of_receipts: 2, p99_ratio_of_commits: 1.25 }
const WEBHOOKS = 1_000
const WEBHOOKS_PER_TENANT = 5
/** 384 trades a block. */
const SHAPE = { channels: 24, burst: 16 }
const LIVE_SLOT_MS = 400
/** Channels of the first webhook of each tenant: a whole batch in every block, which is sent at once. */
const BUSY_CHANNELS = 4
/** One of ten webhooks: half of the tenants have one. */
const isHanging = (n: number): boolean => n % 10 === 3
const WARM_UP_BLOCKS = 8
/** Blocks after the measurement: their batches report the earlier drops. */
const LAST_BLOCKS = 4

const PLANS = Array.from({ length: WEBHOOKS }, (_, n): Plan => {
  const isBusy = n % WEBHOOKS_PER_TENANT === 0
  const count = isBusy ? BUSY_CHANNELS : 1
  return { n, first: (n * 7) % (SHAPE.channels - count + 1), count, burst: SHAPE.burst }
})
const isBusy = (n: number): boolean => n % WEBHOOKS_PER_TENANT === 0

/** The measurements of one side, over all its phases. */
class Measured {
  readonly side: Side
  readonly commitsMs: number[] = []
  readonly busy: [ms: number, events: number][] = []
  readonly gathered: [ms: number, events: number][] = []
  blocks = 0
  restarts = 0
  /** The times of measured commits, by slot. */
  readonly #committed = new Map<number, number>()

  constructor(side: Side) {
    this.side = side
  }

  async phase(blocks: number, isWarmUp: boolean): Promise<void> {
    const { waitsMs, atMs, restarts } = await this.side.live(SHAPE, blocks, LIVE_SLOT_MS)
    this.blocks += blocks
    this.restarts = restarts
    // The last batch may be gathered for half a second.
    await pause(2 * LIVE_SLOT_MS)
    if (!isWarmUp) {
      this.commitsMs.push(...waitsMs)
      for (const [slot, ms] of atMs) this.#committed.set(slot, ms)
    }
    // Later events count with the next phase's.
    for (const [n, slot, receivedMs, events] of await this.side.receipts()) {
      const at = this.#committed.get(slot)
      if (at === undefined || isHanging(n)) continue
      const of = isBusy(n) ? this.busy : this.gathered
      of.push([receivedMs - at, events])
    }
  }

  get receipts() {
    return {
      whole_batches: weightedSummary(this.busy),
      gathered_batches: weightedSummary(this.gathered),
      all: weightedSummary([...this.busy, ...this.gathered])
    }
  }
}

/**
 * Measures 1,000 webhooks of 200 tenants at the live rate in alternating phases: with 10 % that hang, without those, and a
 * service without webhooks.
 */
export async function measureIsolation(rounds: number, blocks: number, hasCore: boolean) {
  const [none, healthy, hanging] = [
    new Measured(await Side.start(hasCore)),
    new Measured(await Side.start(hasCore)),
    new Measured(await Side.start(hasCore))
  ]
  try {
    for (const { side } of [healthy, hanging]) {
      await side.insert(PLANS)
      await side.startDeliveries()
    }
    await hanging.side.hang(PLANS.map(({ n }) => n).filter(isHanging))
    for (let round = 0; round <= rounds; round++) {
      const sides = [none, healthy, hanging]
      // The first round is the warm-up.
      for (const each of round % 2 === 0 ? sides : sides.reverse())
        await each.phase(round === 0 ? WARM_UP_BLOCKS : blocks, round === 0)
    }
    await hanging.side.hang([])
    await hanging.side.drained()
    // Another batch reports the last drops.
    for (const each of [healthy, hanging]) {
      await each.phase(LAST_BLOCKS, true)
      await each.side.drained()
    }
    const totals = {
      healthy: await healthy.side.totals(healthy.blocks * SHAPE.burst),
      with_hanging: await hanging.side.totals(hanging.blocks * SHAPE.burst)
    }
    return figuresOf(none, healthy, hanging, totals)
  } finally {
    for (const { side } of [none, healthy, hanging]) await side.end()
  }
}

function figuresOf(
  none: Measured,
  healthy: Measured,
  hanging: Measured,
  totals: { readonly healthy: Totals; readonly with_hanging: Totals }
) {
  const commits = [none, healthy, hanging].map(({ commitsMs }) => summaryOf(commitsMs)) as [
    ReturnType<typeof summaryOf>,
    ReturnType<typeof summaryOf>,
    ReturnType<typeof summaryOf>
  ]
  const [calm, disturbed] = [healthy.receipts, hanging.receipts]
  const ratios = {
    p99_of_receipts: disturbed.all.p99 / calm.all.p99,
    p99_of_whole_batches: disturbed.whole_batches.p99 / calm.whole_batches.p99,
    p99_of_commits_beside_healthy: commits[1].p99 / commits[0].p99,
    p99_of_commits_beside_hanging: commits[2].p99 / commits[0].p99
  }
  const isComplete =
    Object.values(totals).every(
      ({ incomplete, faults, webhooks }) => incomplete + faults.length === 0 && webhooks === WEBHOOKS
    ) && totals.healthy.dropped === 0
  return {
    reached:
      isComplete &&
      Math.max(ratios.p99_of_receipts, ratios.p99_of_whole_batches) <= BARS.p99_ratio_of_receipts &&
      Math.max(ratios.p99_of_commits_beside_healthy, ratios.p99_of_commits_beside_hanging) <=
        BARS.p99_ratio_of_commits,
    bars: BARS,
    webhooks: WEBHOOKS,
    tenants: WEBHOOKS / WEBHOOKS_PER_TENANT,
    hanging: PLANS.filter(({ n }) => isHanging(n)).length,
    ms_between_blocks: LIVE_SLOT_MS,
    trades_a_block: SHAPE.channels * SHAPE.burst,
    ratios,
    event_to_receipt_ms: { healthy: calm, with_hanging: disturbed },
    commit_ms: { without_webhooks: commits[0], healthy: commits[1], with_hanging: commits[2] },
    restarts: healthy.restarts + hanging.restarts,
    verified_complete: isComplete,
    received: totals
  }
}
