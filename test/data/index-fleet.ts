import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import type { Test } from 'tap'
import { indexAnswers } from '../../actors/data/index-answers.ts'
import { names } from '../../actors/data/names.ts'
import { ranking } from '../../actors/data/ranking.ts'
import { whileHeld } from '../../actors/data/while-held.ts'
import { supervise } from '../../actors/supervision/supervisor.ts'
import { child, supervisor } from '../../actors/supervision/unit.ts'
import { IndexPlace, type IndexState } from '../../src/data/index-place.ts'
import { indexMetrics } from '../../src/data/metrics.ts'
import { NameIndex } from '../../src/data/name-index.ts'
import { RankingHandle } from '../../src/data/ranking-handle.ts'
import { DecodingReport } from '../../src/ingest/decoding-report.ts'
import { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import type { Storage } from '../../storage/port.ts'
import { Registry } from 'prom-client'
import { aborted } from '../actors/supervision/recorder.ts'
import { appOf } from '../http/app-of.ts'
import { marketApp, type MarketApp } from '../http/market-app.ts'
import { OPTIONS } from '../market/world.ts'
import { processMetrics } from '../products/process-metrics.ts'
import { until } from '../until.ts'
import { FakeQuestionServer } from './fake-questions.ts'

/** A gateway of a fleet, with the units that hold or ask for names and rankings. */
export interface IndexGateway {
  readonly id: string
  readonly app: FastifyInstance
  readonly place: IndexPlace
  readonly names: NameIndex
  readonly ranking: RankingHandle
  /** Entries that grow with the number of mints. */
  readonly entries: number
  /** The state that it announces. */
  readonly announced: IndexState
  kill(): Promise<void>
}

/** Gateways over one store and the blocks of one ingest. They hear of each other at once, and decide when the test says so. */
export class IndexFleet {
  readonly server = new FakeQuestionServer()
  readonly market: MarketApp
  readonly gateways: IndexGateway[] = []
  readonly #t: Test
  readonly #announcements = new Map<
    string,
    {
      index: IndexState
      startedAtMs: number
      isDraining: boolean
      roles: readonly string[]
      products: readonly string[] | null
    }
  >()
  #nowMs = 0
  #key = ''

  private constructor(t: Test, market: MarketApp) {
    this.#t = t
    this.market = market
  }

  static async open(t: Test): Promise<IndexFleet> {
    const fleet = new IndexFleet(t, await marketApp(t))
    fleet.#key = await fleet.market.makeKey(['data:read'], { ratePerMinute: 1_000_000 })
    return fleet
  }

  /** Starts a gateway, which decides at once. */
  start(id: string, startedAtMs = this.#nowMs++): IndexGateway {
    const { deps, storage: store } = this.market
    const { questions, hints } = this.server.join()
    const storage: Storage = { ...store, questions }
    const feed = new CommitFeed()
    feed.jump(deps.feed.head)
    const unfollow = deps.feed.follow({ published: (commit) => feed.publish(commit) })
    const state: { current: IndexState } = { current: 'none' }
    const announcements = this.#announcements
    const place = new IndexPlace({
      fleet: {
        ...{ id, isHearing: true },
        get processes() {
          return [...announcements].map(([each, announcement]) => ({
            ...{ id: each, isThis: each === id, announcement }
          }))
        }
      },
      clock: { now: () => this.#nowMs },
      ...{ state, isShared: true },
      isLoaded: () => handle.current !== null && index.hasLaunches
    })
    announcements.set(id, {
      ...{ startedAtMs, isDraining: false, roles: ['gateway'], products: null },
      get index() {
        return state.current
      }
    })
    const handle = new RankingHandle()
    const index = new NameIndex({ bytesMax: 2 ** 24, cash: OPTIONS.cash })
    const units = { feed, clock: deps.clock, logger: pino({ level: 'silent' }) }
    place.update()
    const answers = indexAnswers(
      { ...units, place, ranking: handle, names: index, metrics: indexMetrics(new Registry()) },
      () => hints
    )
    const running = supervise(
      supervisor('service', 'rest_for_one', [
        child<'storage', unknown, Storage>('storage', async ({ ready, draining }) => {
          ready(storage)
          await aborted(draining)
        }),
        supervisor('views', 'one_for_one', [
          child('ranking', whileHeld(place, ranking({ ...units, live: handle }))),
          child(
            'names',
            whileHeld(place, names({ ...units, names: index, ranking: handle }), () => index.clear())
          ),
          child('answers', answers)
        ])
      ]),
      { clock: deps.clock, random: () => 1 }
    )
    const app = appOf({
      ...{ ...deps, storage, feed, ranking: handle, names: index, indexPlace: place, indexHints: hints },
      metrics: processMetrics(new DecodingReport())
    })
    const end = async (): Promise<void> => {
      unfollow()
      announcements.delete(id)
      await Promise.all([running.drain(), app.close()])
    }
    let ended: Promise<void> | null = null
    const kill = (): Promise<void> => (ended ??= end())
    this.#t.teardown(kill)
    const gateway: IndexGateway = {
      ...{ id, app, place, names: index, ranking: handle, kill },
      get entries() {
        const { mints, pairs } = handle.current?.size ?? { mints: 0, pairs: 0 }
        return mints + pairs + index.size
      },
      get announced() {
        return state.current
      }
    }
    this.gateways.push(gateway)
    return gateway
  }

  /** Lets time pass, in which each gateway decides once a second. */
  async pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      this.#nowMs += 1_000
      for (const { place } of this.gateways) place.update()
    }
    await new Promise((resolve) => setImmediate(resolve))
  }

  /** Resolves once gateways have what they hold, and all have heard so. */
  async loaded(...gateways: readonly IndexGateway[]): Promise<void> {
    await until(() =>
      gateways.every(({ ranking, names: { hasLaunches } }) => ranking.current !== null && hasLaunches)
    )
    for (let round = 0; round < 2; round++) for (const { place } of this.gateways) place.update()
  }

  async ask({ app }: Pick<IndexGateway, 'app'>, url: string) {
    const answer = await app.inject({ method: 'GET', url, headers: { 'x-api-key': this.#key } })
    return { status: answer.statusCode, tag: answer.headers['etag'], text: answer.body }
  }
}
