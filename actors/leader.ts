import type { BlockSource, SourcedBlock } from '../src/block-source.ts'
import type { Peers } from '../src/coordination.ts'
import { ServiceError } from '../src/errors.ts'
import { sleep, type Clock } from '../src/ports.ts'
import type { Storage } from '../storage/port.ts'
import { unlessAborted } from './aborted.ts'
import { catchUp, takeUp } from './follower.ts'
import { ingestFrom, ingestGauges, tellOfHead, type OpenIngest } from './ingest.ts'
import { Ingester, type IngesterDeps, type TakesBlocks } from './ingester.ts'
import { isOutage, patienceWith } from './patience.ts'
import type { Run } from './process.ts'
import { nextTurn, type Turn, type TurnDeps } from './turns.ts'

/** What a commit that is under way is waited for: at a drain, and at a kill. Well within what the process is given. */
const GRACE_MS = { drain: 2_000, kill: 500 }
/** The least that passes before the next attempt after one that the store did not answer. */
const AWAY_MS = 500

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
 * O1. It commits in its turn alone: it begins with a claim, and ends before its lease does. What it writes late all the
 *     same the store refuses, by the token of the next claim.
 * O2. It goes on from what the store has come to, and the feed from what it has told (L2 of the follower), so that who
 *     follows in this process hears each block once, whoever commits it.
 * O3. While the store does not answer it waits and takes up anew; that costs no restart. Neither does a refusal.
 * O4. Without leases whoever claimed last ingests. The one that is refused follows until the other has fallen silent.
 */
export function leader(deps: LeaderDeps): Run<LeaderNeeds, OpenIngest> {
  return async ({ input: { storage, source, peers }, draining, signal, ready, gauge }) => {
    let leading: Ingester | null = null
    const ingested = ingestGauges(gauge, () => leading?.market ?? null)
    const lead = async (turn: Turn, over: AbortSignal): Promise<void> => {
      const { head, ingester } = await takeOver(turn, storage, deps, over)
      if (over.aborted) return
      leading = ingester
      const ingestOne = async (sourced: SourcedBlock): Promise<void> => {
        await ingester.ingest(sourced)
        peers.commits?.tell(sourced.block.slot)
      }
      await ingestFrom(head, source, ingestOne, ingested, deps.logger, over).finally(() => (leading = null))
    }

    await takeUp(storage, deps, draining)
    ready({
      get ingester() {
        return leading
      }
    })
    const patience = patienceOf(draining, signal, deps.clock)
    try {
      let wasRefused = false
      while (!draining.aborted) {
        const turn = await nextTurn({ storage, peers }, deps, wasRefused, draining)
        if (turn === null) return
        const work = (over: AbortSignal) => unlessAborted(lead(turn, over), patience.signal)
        wasRefused = await throughout(turn, work, storage, deps, draining)
      }
    } finally {
      patience.abort()
    }
  }
}

/**
 * Does the work of a turn until the turn is over, and again where the store was away meanwhile. Resolves to whether the
 * store refused it, with which the turn is given up.
 */
async function throughout(
  turn: Turn,
  work: (over: AbortSignal) => Promise<void>,
  storage: Storage,
  { clock, logger, metrics }: LeaderDeps,
  draining: AbortSignal
): Promise<boolean> {
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
      if (storage.outage === null) {
        logger.warn({ err: away }, 'the store refused ingest, which takes up anew')
        return true
      }
      await sleep(clock, AWAY_MS, over)
      await patienceWith(storage, clock)(() => storage.blocks.head(), over).catch(() => undefined)
    }
    if (!draining.aborted) logger.warn(`ingest ends here for now: ${(turn.lost.reason as Error).message}`)
    return false
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
  const ingester = await Ingester.open(storage, head, deps, inTurn(storage, turn))
  if (!over.aborted) tellOfHead(head, logger)
  return { head, ingester }
}

/** What writes blocks, as long as the turn lasts. */
function inTurn({ blocks, history }: Storage, turn: Turn): TakesBlocks {
  const held = async (): Promise<void> => {
    if (!turn.held)
      throw new ServiceError('STORAGE_UNAVAILABLE', 'the turn of this process to ingest is over')
  }
  return {
    commit: (...block) => held().then(() => blocks.commit(...block)),
    history: { amend: (amendment, gaps) => held().then(() => history.amend(amendment, gaps)) }
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
