import type { BlockSource, SourcedBlock } from '../../src/node/block-source.ts'
import type { Peers } from '../../storage/coordination.ts'
import { LostClaim } from '../../src/errors.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import type { Storage } from '../../storage/port.ts'
import { unlessAborted } from '../supervision/aborted.ts'
import { catchUp, slotOf, takeUp } from './follower.ts'
import { ingestFrom, ingestGauges, tellOfHead, type OpenIngest } from './ingest.ts'
import { Ingester, type IngesterDeps } from './ingester.ts'
import { isOutage, patienceWith } from '../storage/patience.ts'
import type { Run } from '../supervision/process.ts'
import { nextTurn, type Refusal, type Turn, type TurnDeps } from './turns.ts'

/** What a commit that is under way is waited for: at a drain, and at a kill. Well within what the process is given. */
const GRACE_MS = { drain: 2_000, kill: 500 }
/** The least that passes before the next attempt after one that the store did not answer. */
const AWAY_MS = 500
/** How often the store is asked whether another process commits. Chosen: a process with a quiet source follows within seconds. */
const WATCH_MS = 1_000

export type LeaderDeps = IngesterDeps & TurnDeps

export interface LeaderNeeds {
  readonly storage: Storage
  readonly source: BlockSource
  readonly peers: Peers
}

/**
 * The process that turns blocks into stored rows on a store that other processes have, too: one of them at a time, and
 * the others follow it and stand by.
 *
 * O1. It begins with a claim, and goes on until another process has claimed: then the store refuses what it writes. A
 *     lease spares the work of two processes that ingest; while Redis does not answer ingest goes on without one.
 * O2. It goes on from what the store has come to, and the feed from what it has told (L2 of the follower), so that who
 *     follows in this process hears each block once, whoever commits it.
 * O3. While the store does not answer it waits and takes up anew; that costs no restart and no lease. A refusal costs no
 *     restart.
 * O4. Without leases whoever claimed last ingests. The one that is refused follows until the other has fallen silent.
 * O5. A process whose source gives nothing notices by the store's head that another one commits, and follows it.
 */
export function leader(deps: LeaderDeps): Run<LeaderNeeds, OpenIngest> {
  return async ({ input: { storage, source, peers }, draining, signal, ready, gauge }) => {
    let leading: Ingester | null = null
    const ingested = ingestGauges(gauge, () => leading?.market ?? null)
    const lead = async (turn: Turn, over: AbortSignal): Promise<void> => {
      const { head, ingester } = await takeOver(turn, storage, deps, over)
      if (over.aborted) return
      leading = ingester
      let given = slotOf(head)
      const ingestOne = async (sourced: SourcedBlock): Promise<void> => {
        given = Math.max(given, sourced.block.slot)
        await ingester.ingest(sourced)
        peers.commits?.tell(sourced.block.slot)
      }
      const ended = new AbortController()
      const until = AbortSignal.any([over, ended.signal])
      void watchHead(storage, () => given, deps.clock, until).catch((error) => ended.abort(error))
      try {
        await ingestFrom(head, source, ingestOne, ingested, deps.logger, until)
        ended.signal.throwIfAborted()
      } finally {
        leading = null
        ended.abort()
      }
    }

    await takeUp(storage, deps, draining)
    ready({
      get ingester() {
        return leading
      }
    })
    const patience = patienceOf(draining, signal, deps.clock)
    try {
      let refusal: Refusal | null = null
      while (!draining.aborted) {
        const turn = await nextTurn({ storage, peers }, deps, refusal, draining)
        if (turn === null) return
        const work = (over: AbortSignal) => unlessAborted(lead(turn, over), patience.signal)
        refusal = await throughout(turn, work, storage, deps, draining)
      }
    } finally {
      patience.abort()
    }
  }
}

/**
 * Does the work of a turn until the turn is over, and again where the store was away meanwhile. Resolves with the store's
 * refusal, with which the turn is given up; null where the turn ended otherwise.
 */
async function throughout(
  turn: Turn,
  work: (over: AbortSignal) => Promise<void>,
  storage: Storage,
  { clock, logger, metrics }: LeaderDeps,
  draining: AbortSignal
): Promise<Refusal | null> {
  const over = AbortSignal.any([draining, turn.lost])
  metrics.leaseHeld.set({ lease: 'ingest' }, 1)
  try {
    while (!over.aborted) {
      const away = await work(over).then(
        () => null,
        (error: unknown) => {
          if (error !== over.reason && !isOutage(error)) throw error
          return error
        }
      )
      if (over.aborted) break
      if (away instanceof LostClaim) {
        logger.warn(
          { err: away },
          'the store refused ingest, since another process has claimed: this one follows it'
        )
        return { outrankedBy: away.outrankedBy }
      }
      // An outage that is over already: the turn goes on, and the claim of this process tells whether it may.
      if (storage.outage === null)
        logger.warn({ err: away }, 'ingest had no answer of the store, and takes up anew')
      await sleep(clock, AWAY_MS, over)
      await patienceWith(storage, clock)(() => storage.blocks.head(), over).catch(() => undefined)
    }
    if (!draining.aborted) logger.warn(`ingest ends here for now: ${(turn.lost.reason as Error).message}`)
    return null
  } finally {
    metrics.leaseHeld.set({ lease: 'ingest' }, 0)
    await turn.release()
  }
}

/** Makes this process the only writer, and gives what it goes on from. */
async function takeOver(turn: Turn, storage: Storage, deps: LeaderDeps, over: AbortSignal) {
  const { feed, logger, metrics } = deps
  const head = await storage.blocks.claim(turn.token)
  feed.forget()
  await catchUp(storage, feed, head, over)
  metrics.lagSlots.set(0)
  const ingester = await Ingester.open(storage, head, deps)
  if (!over.aborted) tellOfHead(head, logger)
  return { head, ingester }
}

/**
 * Rejects with LostClaim once the store has a block that this process has not given to it (O5); resolves when `end`
 * aborts. A store that does not answer is asked again.
 */
async function watchHead(
  { blocks }: Storage,
  given: () => number,
  clock: Clock,
  end: AbortSignal
): Promise<void> {
  while (!end.aborted) {
    await sleep(clock, WATCH_MS, end)
    const head = await blocks.head().catch(() => null)
    if (!end.aborted && slotOf(head) > given())
      throw new LostClaim('STORAGE_UNAVAILABLE', 'another process writes now: it has committed blocks')
  }
}

/** Aborts when work is no longer waited for, with the reason of the drain; whoever has it aborts it at the end. */
function patienceOf(draining: AbortSignal, signal: AbortSignal, clock: Clock): AbortController {
  const patience = new AbortController()
  const endIn = (ms: number): void => {
    void sleep(clock, ms, patience.signal).then(() => patience.abort(draining.reason))
  }
  draining.addEventListener('abort', () => endIn(GRACE_MS.drain), { once: true })
  signal.addEventListener('abort', () => endIn(GRACE_MS.kill), { once: true })
  return patience
}
