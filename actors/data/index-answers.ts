import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import PQueue from 'p-queue'
import type { SharedQuestions, StoredQuestion } from '../../storage/port/questions.ts'
import type { Storage } from '../../storage/port.ts'
import { ASK_MS, FIRST_HOLDER_MS, type IndexHints } from '../../src/data/index-asker.ts'
import { rankingAnswer, searchAnswer } from '../../src/data/index-answer.ts'
import type { IndexPlace } from '../../src/data/index-place.ts'
import { questionIn, type IndexQuestion } from '../../src/data/index-question.ts'
import type { IndexMetrics } from '../../src/data/metrics.ts'
import type { NameIndex } from '../../src/data/name-index.ts'
import type { RankingHandle } from '../../src/data/ranking-handle.ts'
import { headSlot, reachedSlot } from '../../src/data/reached-slot.ts'
import type { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import { RecentKeys } from '../../src/kernel/memory/recent-keys.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import { undefinedIfUnavailable } from '../storage/retry.ts'
import { aborted } from '../supervision/aborted.ts'
import type { Run } from '../supervision/process.ts'

/** Poll interval for questions, in milliseconds: while notifications arrive, and otherwise. */
const POLL_MS = { notified: 1_000, polled: 200 }
/** Milliseconds for which the block of a question is waited for: the rest of its time is for the answer. */
const CATCH_UP_MS = ASK_MS / 2
/** Questions that are answered at a time. A search holds the event loop for a millisecond between two others. */
const ANSWERED_AT_ONCE = 4
/** Maximum questions that wait. The others are not answered, and whoever asked them tells its client to retry. */
const WAITING_MAX = 200

export interface IndexAnswersDeps {
  readonly feed: CommitFeed
  readonly clock: Clock
  readonly place: Pick<IndexPlace, 'isAsked' | 'rank'>
  readonly ranking: RankingHandle
  readonly names: NameIndex
  readonly metrics: Pick<IndexMetrics, 'answered'>
}

/**
 * Answers the questions of other processes about names and rankings, while this one holds them.
 *
 * A1. The first holder answers at once. Each further one answers what is unanswered `FIRST_HOLDER_MS` later, so that an end of
 *     the first costs a request a fraction of a second.
 * A2. An answer includes the blocks that the question names.
 * A3. A question that cannot be answered in time is dropped.
 * A4. While notifications arrive and no live process has anything to ask, the store is not polled.
 */
export function indexAnswers<Needs extends { readonly storage: Pick<Storage, 'questions' | 'history'> }>(
  deps: IndexAnswersDeps,
  hintsOf: (needs: Needs) => IndexHints
): Run<Needs> {
  return async ({ input, draining, ready, gauge, report }) => {
    const { questions, history } = input.storage
    ready()
    if (questions === null) return aborted(draining)
    const hints = hintsOf(input)
    const answers = new QuestionQueue({ ...deps, questions, history, hints, draining, report })
    gauge('waiting', () => answers.waiting)
    gauge('dropped', () => answers.dropped)
    const unsubscribe = hints.questions?.subscribe((question) => {
      if (question !== null) answers.take(question)
    })
    try {
      while (!draining.aborted) {
        const isNotified = hints.questions?.available === true
        const { rank, isAsked } = deps.place
        if (rank !== null && (isAsked || !isNotified))
          for (const question of (await undefinedIfUnavailable(questions.recent())) ?? [])
            answers.take(question)
        await sleep(deps.clock, isNotified ? POLL_MS.notified : POLL_MS.polled, draining)
      }
    } finally {
      unsubscribe?.()
      await answers.ended()
    }
  }
}

interface QueueDeps extends IndexAnswersDeps {
  readonly questions: SharedQuestions
  readonly history: Pick<Storage['history'], 'amendments'>
  readonly hints: IndexHints
  readonly draining: AbortSignal
  readonly report: (error: unknown) => void
}

/** Questions that are being answered. */
class QuestionQueue {
  readonly #deps: QueueDeps
  readonly #taken = new RecentKeys()
  readonly #queue = new PQueue({ concurrency: ANSWERED_AT_ONCE })
  readonly #running = new Set<Promise<void>>()
  dropped = 0

  constructor(deps: QueueDeps) {
    this.#deps = deps
  }

  get waiting(): number {
    return this.#running.size
  }

  /** Answers a question, once. */
  take({ id, text }: StoredQuestion): void {
    const { place, report } = this.#deps
    if (place.rank === null || this.#taken.has(id)) return
    const question = questionIn(text)
    if (question === null) return
    this.#taken.add(id)
    if (this.#running.size === WAITING_MAX) {
      this.dropped++
      return
    }
    const running = undefinedIfUnavailable(this.#answer(id, question, place.rank)).catch(report)
    this.#running.add(running)
    void running.finally(() => this.#running.delete(running))
  }

  async ended(): Promise<void> {
    await Promise.allSettled(this.#running)
  }

  async #answer(id: string, question: IndexQuestion, rank: number): Promise<void> {
    const { questions, hints, clock, draining, metrics } = this.#deps
    if (rank > 0) {
      await sleep(clock, rank * FIRST_HOLDER_MS, draining)
      if (draining.aborted || (await questions.read(id)) !== null) return
    }
    if (!(await this.#hasSeen(question))) return
    const answer = await this.#queue.add(() => this.#answerOf(question))
    if (answer === null) return
    await questions.answer(id, JSON.stringify(answer))
    hints.answers?.publish(id)
    metrics.answered.inc()
  }

  /** Tells whether this process has the blocks of a question (A2). */
  async #hasSeen({ slot, amendments }: IndexQuestion): Promise<boolean> {
    const { feed, history, clock, draining } = this.#deps
    if (!(await reachedSlot(feed, slot, { clock, ms: CATCH_UP_MS, signal: draining }))) return false
    return (await history.amendments()) >= amendments
  }

  async #answerOf(question: IndexQuestion) {
    const { ranking, names, feed } = this.#deps
    const { current } = ranking
    if (current === null) return null
    const index = { slot: headSlot(feed), ranking: current, names }
    return question.kind === 'ranking'
      ? rankingAnswer(index)
      : searchAnswer(index, question, async () => void (await yieldToEventLoop()))
  }
}
