import type { HintChannel } from '../../storage/cluster/coordination.ts'
import type { SharedQuestions, StoredQuestion } from '../../storage/port/questions.ts'
import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import type { IndexHints } from '../../src/data/index-asker.ts'

/** Questions as one gateway of a test sees them. */
export interface JoinedQuestions {
  readonly questions: SharedQuestions
  readonly hints: IndexHints
}

/** A store of questions and answers for the gateways of a test. Notifications reach the other gateways at once, or never. */
export class FakeQuestionServer {
  readonly asked = new Map<string, string>()
  readonly answers = new Map<string, string>()
  /** Number of answers that were stored. */
  answered = 0
  /** Number of polls for questions. */
  reads = 0
  isAway = false
  /** Whether notifications arrive. */
  notifies = true
  readonly #questions = new Set<Listener<StoredQuestion>>()
  readonly #answers = new Set<Listener<string>>()

  join(): JoinedQuestions {
    const me = {}
    const call = async <T>(run: () => T): Promise<T> => {
      if (this.isAway) throw new ServiceError(ERRORS.STORAGE_UNAVAILABLE, 'the store does not answer')
      return run()
    }
    const questions: SharedQuestions = {
      put: ({ id, text }) => call(() => void this.asked.set(id, text)),
      recent: () =>
        call(() => {
          this.reads++
          return [...this.asked].map(([id, text]) => ({ id, text }))
        }),
      answer: (id, text) =>
        call(() => {
          this.answered++
          this.answers.set(id, text)
        }),
      read: (id) => call(() => this.answers.get(id) ?? null)
    }
    return {
      questions,
      hints: { questions: this.#channel(me, this.#questions), answers: this.#channel(me, this.#answers) }
    }
  }

  #channel<What>(me: object, listeners: Set<Listener<What>>): HintChannel<What> {
    const isAvailable = (): boolean => this.notifies
    return {
      get available() {
        return isAvailable()
      },
      publish(what) {
        if (isAvailable()) for (const { of, heard } of listeners) if (of !== me) heard(what)
      },
      subscribe(heard) {
        const listener = { of: me, heard }
        listeners.add(listener)
        return () => void listeners.delete(listener)
      }
    }
  }
}

interface Listener<What> {
  readonly of: object
  readonly heard: (what: What | null) => void
}
