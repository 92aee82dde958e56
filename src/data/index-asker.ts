import type { HintChannel } from '../../storage/cluster/coordination.ts'
import type { SharedQuestions, StoredQuestion } from '../../storage/port/questions.ts'
import { ERRORS, ServiceError } from '../kernel/errors.ts'
import { SingleFlight } from '../kernel/work/single-flight.ts'
import { sleep, type Clock } from '../ports.ts'
import { questionId, questionText, type IndexQuestion } from './index-question.ts'
import type { IndexMetrics } from './metrics.ts'

/**
 * Milliseconds that an answer is waited for. Shorter than a request's deadline, so that the refusal can name the reason; long
 * enough for the second holder to answer in place of the first.
 */
export const ASK_MS = 1_000
/** Milliseconds that the first holder has for an answer, before the second gives it. Most answers take a few. */
export const FIRST_HOLDER_MS = 250
/** Milliseconds after which the store is read without a notification: while notifications arrive, and otherwise. */
const READ_MS = { notified: 250, polled: 50 }

/** The notifications of questions and answers; null if processes do not notify each other. */
export interface IndexHints {
  readonly questions: HintChannel<StoredQuestion> | null
  readonly answers: HintChannel<string> | null
}

export interface IndexAskerOptions {
  readonly questions: SharedQuestions
  readonly hints: IndexHints
  readonly clock: Clock
  readonly metrics: Pick<IndexMetrics, 'asked'>
}

/**
 * Asks the processes that hold names and rankings.
 *
 * Q1. The store has question and answer. Notifications only save polls, and are sent beside the write.
 * Q2. Equal questions of a process are asked once at a time, and those of several processes have one answer.
 */
export class IndexAsker {
  readonly #options: IndexAskerOptions
  readonly #asking = new SingleFlight<string | null>()
  readonly #waiting = new Map<string, () => void>()
  readonly #unsubscribe: () => void

  constructor(options: IndexAskerOptions) {
    this.#options = options
    const { answers } = options.hints
    this.#unsubscribe =
      answers?.subscribe((id) => {
        if (id !== null) this.#waiting.get(id)?.()
      }) ?? (() => undefined)
  }

  close(): void {
    this.#unsubscribe()
  }

  /** Returns the text of an answer. Rejects with INDEX_LOADING if no process answers in time, and with the store's error. */
  async ask(question: IndexQuestion, withinMs = ASK_MS): Promise<string> {
    const id = questionId(question, this.#options.clock.now())
    const answer = await this.#asking.run(id, () => this.#ask(id, question, withinMs))
    this.#options.metrics.asked.inc({ outcome: answer === null ? 'unanswered' : 'answered' })
    if (answer === null) throw unanswered()
    return answer
  }

  async #ask(id: string, question: IndexQuestion, withinMs: number): Promise<string | null> {
    const { questions, hints, clock } = this.#options
    const stored = await questions.read(id)
    if (stored !== null) return stored
    let heard = new AbortController()
    this.#waiting.set(id, () => heard.abort())
    try {
      const asked = { id, text: questionText(question) }
      hints.questions?.publish(asked)
      await questions.put(asked)
      const untilMs = clock.now() + withinMs
      for (let leftMs = withinMs; leftMs > 0; leftMs = untilMs - clock.now()) {
        const readMs = hints.answers?.available === true ? READ_MS.notified : READ_MS.polled
        await sleep(clock, Math.min(leftMs, readMs), heard.signal)
        heard = new AbortController()
        const answer = await questions.read(id)
        if (answer !== null) return answer
      }
      return null
    } finally {
      this.#waiting.delete(id)
    }
  }
}

const unanswered = (): ServiceError =>
  new ServiceError(
    ERRORS.INDEX_LOADING,
    `no gateway that holds names and rankings has answered within ${ASK_MS / 1_000} s; retry`
  )
