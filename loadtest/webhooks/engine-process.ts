/** Runs the delivery of webhooks as the parent process directs. Argument: the directory of the store. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { WebhookDelivery } from '../../actors/webhooks/delivery.ts'
import { SENDER_TUNING } from '../../actors/webhooks/sender.ts'
import { blockOf, FIRST_SLOT, monotonicMs, type Shape } from '../stream/trades.ts'
import { BareLoop } from './bare-loop.ts'
import { Engine } from './engine.ts'
import type { Plan } from './plan.ts'

/** A message to the process. It answers each one. */
export type EngineOrder =
  | { readonly kind: 'insert'; readonly plans: readonly Plan[]; readonly ports: readonly number[] }
  | { readonly kind: 'start' }
  /** Publishes blocks as fast as they are delivered. */
  | { readonly kind: 'deliver'; readonly shape: Shape; readonly blocks: number }
  /** Makes as many POSTs with the bodies of the first round, with undici alone. */
  | { readonly kind: 'bare'; readonly posts: number; readonly ports: readonly number[] }
  /** Commits blocks at a constant rate. */
  | { readonly kind: 'live'; readonly shape: Shape; readonly blocks: number; readonly everyMs: number }
  /** Resolves when every webhook has delivered all. */
  | { readonly kind: 'drain' }
  | { readonly kind: 'memory' }

/** The cost of a round. */
export interface Cost {
  readonly wallMs: number
  readonly cpuMs: number
  /** The share of `cpuMs` that is not garbage collection, compaction or writes in other threads. */
  readonly mainThreadMs: number
}

/** Commits of a phase. */
export interface Commits {
  readonly waitsMs: readonly number[]
  /** The time of each commit's end, by slot. */
  readonly atMs: readonly (readonly [slot: number, ms: number])[]
  readonly restarts: number
}

export interface Memory {
  readonly rss: number
  /** Bytes of the JavaScript heap and of buffers, after the collection of garbage. */
  readonly held: number
}

const BODIES = 256
/** Undelivered events of a webhook above which no block is published. Below the events that it refers to. */
const BUFFERED_MAX = 128
const POLL_INTERVAL_MS = 20
const COLLECTIONS = 4

const engine = await Engine.open(process.argv[2]!)
const bodies: Buffer[] = []
let slot = FIRST_SLOT
let bare: BareLoop | null = null

async function costOf(work: () => Promise<void>): Promise<Cost> {
  await collect()
  const [wall, cpu, main] = [performance.now(), process.cpuUsage(), process.threadCpuUsage()]
  await work()
  const msOf = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1_000
  const mainThreadMs = msOf(process.threadCpuUsage(main))
  return { wallMs: performance.now() - wall, cpuMs: msOf(process.cpuUsage(cpu)), mainThreadMs }
}

async function collect(): Promise<void> {
  for (let n = 0; n < COLLECTIONS; n++) {
    globalThis.gc!()
    await sleep(50)
  }
}

const isIdle = ({ state, buffered, isBehind }: WebhookDelivery): boolean =>
  typeof state === 'object' && state.active === 'idle' && buffered === 0 && !isBehind

async function drained(): Promise<void> {
  // Computed again, because a restart replaces a delivery.
  while (!engine.deliveries.every(isIdle)) await sleep(POLL_INTERVAL_MS)
}

async function deliver(shape: Shape, count: number): Promise<Cost> {
  engine.onPost = ({ body }) => {
    if (bodies.length < BODIES) bodies.push(Buffer.from(body))
    else engine.onPost = null
  }
  const blocks = Array.from({ length: count }, () => blockOf({ slot: slot++, shape }))
  const { deliveries } = engine
  return costOf(async () => {
    for (const block of blocks) {
      while (deliveries.some(({ buffered }) => buffered > BUFFERED_MAX)) await sleep(POLL_INTERVAL_MS)
      engine.feed.publish(block)
    }
    await drained()
  })
}

async function live(shape: Shape, count: number, everyMs: number): Promise<Commits> {
  const blocks = Array.from({ length: count }, () => blockOf({ slot: slot++, shape }))
  await collect()
  const waitsMs: number[] = []
  const atMs: [number, number][] = []
  for (const block of blocks) {
    const due = sleep(everyMs)
    const started = performance.now()
    const { slot: of } = block.slot
    // Followers of the feed, the webhooks among them, come after the store's answer.
    const commit: typeof engine.storage.blocks.commit = async (...given) => {
      const isNew = await engine.storage.blocks.commit(...given)
      waitsMs.push(performance.now() - started)
      atMs.push([of, monotonicMs()])
      return isNew
    }
    await engine.feed.commit(block, { commit })
    await due
  }
  return { waitsMs, atMs, restarts: engine.restarts }
}

async function answer(order: EngineOrder): Promise<unknown> {
  switch (order.kind) {
    case 'insert':
      return engine.insert(order.plans, order.ports)
    case 'start':
      await engine.start()
      return drained()
    case 'deliver':
      return deliver(order.shape, order.blocks)
    case 'bare':
      bare ??= new BareLoop(order.ports)
      return costOf(() => bare!.run(bodies, order.posts, SENDER_TUNING.concurrency))
    case 'live':
      return live(order.shape, order.blocks, order.everyMs)
    case 'drain':
      return drained()
    case 'memory': {
      await collect()
      const { rss, heapUsed, external } = process.memoryUsage()
      return { rss, held: heapUsed + external }
    }
  }
}

process.on('message', (text: string) => {
  answer(JSON.parse(text) as EngineOrder).then(
    (told) => process.send!(told ?? {}),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`)
      process.exit(1)
    }
  )
})
process.once('SIGTERM', () => process.exit())
process.stdout.write('listening on http://127.0.0.1:0\n')
